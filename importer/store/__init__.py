"""What a program keeps on a disk: a private SQLite file, and locks that the system releases."""
