"""Compares importer with its peers and baselines; `python -m benchmarks --help`."""
