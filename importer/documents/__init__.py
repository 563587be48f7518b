"""Documents: CVs and photos that lie in a folder or a .zip beside the source, found for each row and looked into."""
