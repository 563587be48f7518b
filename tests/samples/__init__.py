"""The samples as operators use them: generator, mappings, and golden folders for whole imports."""
