"""Tests of the proposals."""
