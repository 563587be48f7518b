"""Invented people, and the spreadsheets that an old recruiting system would have exported."""
