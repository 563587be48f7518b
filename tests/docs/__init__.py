"""The documentation is true."""
