"""Texts for every room: comparing, suggesting, splitting, escaping, and date formats."""
