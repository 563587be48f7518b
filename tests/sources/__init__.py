"""Tests of the room that reads files."""
