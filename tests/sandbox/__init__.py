"""The sandbox, tested with real HTTP on loopback and real files."""
