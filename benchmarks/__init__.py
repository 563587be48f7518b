"""Measures importer beside its peers and floors; `python -m benchmarks --help`."""
