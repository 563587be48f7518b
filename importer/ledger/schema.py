"""The tables of the ledger."""

from __future__ import annotations

from typing import Final

from importer.ledger.states import State

VERSION: Final = 2

_STATES = ", ".join(f"'{state}'" for state in State)

TABLES: Final = (
    """CREATE TABLE about (
         version INTEGER NOT NULL,
         key_check BLOB NOT NULL
       )""",
    # Since purged_at, source, hash, mapping and folder are empty.
    """CREATE TABLE runs (
         run VARCHAR NOT NULL PRIMARY KEY,
         base VARCHAR NOT NULL,
         operation VARCHAR NOT NULL,
         target VARCHAR NOT NULL,
         source VARCHAR NOT NULL,
         sha256 VARCHAR NOT NULL,
         mapping VARCHAR NOT NULL,
         folder VARCHAR NOT NULL,
         started_at VARCHAR NOT NULL,
         ended_at VARCHAR,
         exit_code INTEGER,
         purged_at VARCHAR
       )""",
    # updated_at, as every time below: seconds since 1970.
    f"""CREATE TABLE identities (
          identity BLOB NOT NULL PRIMARY KEY,
          state VARCHAR NOT NULL CHECK (state IN ({_STATES})),
          status INTEGER,
          body_digest BLOB NOT NULL,
          run VARCHAR NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          updated_at FLOAT NOT NULL
        )""",
    # state: what the attempt left its identity in; in_flight while it is open. after_doubt: an earlier request for the
    # same identity was in doubt when this one was intended.
    f"""CREATE TABLE attempts (
          run VARCHAR NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          number INTEGER NOT NULL,
          identity BLOB NOT NULL REFERENCES identities (identity),
          started_at FLOAT NOT NULL,
          ended_at FLOAT,
          status INTEGER,
          state VARCHAR NOT NULL CHECK (state IN ({_STATES})),
          after_doubt BOOLEAN NOT NULL DEFAULT 0,
          PRIMARY KEY (run, "row", number)
        ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX one_open_attempt ON attempts (identity) WHERE ended_at IS NULL",
)
