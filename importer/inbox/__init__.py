"""Folders in which files arrive: each complete file is imported once, or waits in attention/ with a reason.

The way of a file: `arrivals` (is it complete?) -> `folders` (incoming/X becomes working/<id>/X) -> `worker` (its
import, and what becomes of it) -> `folders` again (done/<id> or attention/<id>). `attention`: what a person does.
The folders are the only state: every step is one rename or one file replaced, and is done again after a crash.
"""
