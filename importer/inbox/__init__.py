"""Folders in which files arrive: each complete file is imported once, or waits in attention/ with a reason.

The way of a file: `arrivals` (is it complete?) -> `taking` (incoming/X becomes working/<id>/X) -> `worker` (its import,
and what becomes of it) -> `taking` again (done/<id> or attention/<id>). `records`: what a folder <id> says of its file.
The folders are the only state: every step is one rename or one file replaced, and is done again after a crash.
"""
