"""The results folder: the outcome of every row, for people and for programs."""
