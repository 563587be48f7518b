"""The address of a ledger: which database it names, and what may be shown of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from importer.problems import UnusableInput, unusable_file
from importer.settings import LedgerAddress

LedgerPlace = LedgerAddress | str | Path
"""Where a ledger is kept; a text or path alone has its key beside it."""

_SERVERS: Final = ("postgresql://", "postgres://")
# As libpq reads it: the password ends at the first @. What follows has no other, or a part of the password would show.
_SERVER: Final = re.compile(
    r"\w+://(?:(?P<user>[^:@/]*)(?P<password>:[^@/]*)?@)?(?P<hosts>(?:[\w.,-]|%\w\w|:\d|\[[0-9a-fA-F:.]+\])*)"
    r"(?:/(?P<database>[^@:/?#]*))?(?P<more>\?[^@#]*)?"
)


def as_address(address: LedgerPlace) -> LedgerAddress:
    """The address with its key file, if another than usual."""
    return address if isinstance(address, LedgerAddress) else LedgerAddress(str(address))


def is_on_server(address: LedgerPlace) -> bool:
    """Whether it is kept in PostgreSQL."""
    return as_address(address).location.startswith(_SERVERS)


def ledger_folder(address: LedgerPlace) -> Path | None:
    """The folder of the ledger's file; None if it is on a server. Raises as `ledger_file` does."""
    return None if is_on_server(address) else ledger_file(address).parent


def ledger_file(address: LedgerPlace) -> Path:
    """The file of a ledger in SQLite. Raises UnusableInput: it is the address of another type of database."""
    path = as_address(address).location.removeprefix("sqlite:///")
    if "://" in path:
        hint = "set IMPORTER_LEDGER to the path of a file, or to postgresql://USER@HOST/DATABASE"
        raise _invalid("the ledger must be a SQLite file or a PostgreSQL database", hint)
    return Path(path)


def ledger_name(address: LedgerPlace) -> str:
    """The name of a ledger in messages, without a password; it need not exist yet.

    Raises UnusableInput: it is not a valid address of a ledger.
    """
    if not is_on_server(address):
        return str(ledger_file(address))
    found = _SERVER.fullmatch(as_address(address).location)
    if found is None:
        raise not_an_address()
    user = f"{found['user']}@" if found["user"] else ""
    return f"postgresql://{user}{found['hosts']}/{found['database'] or ''}"


def not_an_address() -> UnusableInput:
    """Without the address: it may have a password."""
    hint = (
        "write it like postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %40 for @, %3A for : and %2F for / in the "
        "password; or keep the password in ~/.pgpass"
    )
    return _invalid("it is not a valid address of a PostgreSQL database", hint)


def _invalid(message: str, hint: str) -> UnusableInput:
    return unusable_file("ledger-address-invalid", message, hint, "IMPORTER_LEDGER")
