"""Sends the rows of a run with several workers; what they do is what one process does."""

from importer.cluster.dealing import ClusterLoader, shared_among
from importer.cluster.worker import Assignment, LocalWorker

__all__ = ["Assignment", "ClusterLoader", "LocalWorker", "shared_among"]
