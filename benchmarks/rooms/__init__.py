"""Parts of importer and their baselines: each file measures one, in its own process."""
