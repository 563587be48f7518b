"""Sends the rows of a run with several workers; what they do is what one process does."""

from importer.cluster.dask_cluster import NO_NEWS, PATIENCE, DaskCluster
from importer.cluster.dask_part import Terms
from importer.cluster.dealing import ClusterLoader, Worker, shared_among
from importer.cluster.worker import Access, Assignment, LocalWorker

__all__ = [
    "NO_NEWS",
    "PATIENCE",
    "Access",
    "Assignment",
    "ClusterLoader",
    "DaskCluster",
    "LocalWorker",
    "Terms",
    "Worker",
    "shared_among",
]
