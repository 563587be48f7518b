"""Rooms of importer beside their floors: each file measures one, in a process of its own."""
