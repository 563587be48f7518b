"""What the page shows and changes: a mapping file beside a file, and the rows of a check with their corrections."""
