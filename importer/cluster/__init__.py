"""Sends the rows of a run with several workers; what they do is what one process does."""

from importer.cluster.dealing import ClusterLoader, Worker, shared_among
from importer.cluster.worker import Access, Assignment, LocalWorker

__all__ = [
    "Access",
    "Assignment",
    "ClusterLoader",
    "LocalWorker",
    "Worker",
    "shared_among",
]
