"""A run's folder: its manifest, the rows it is about, how it ends, its report, and what earlier runs left."""
