"""Copies a ledger to another place: from a file to a server, back, or to another of the same kind."""

from __future__ import annotations

from dataclasses import dataclass

from importer.ledger import Copied, copy_ledger, has_password, is_on_server, ledger_name
from importer.problems import UsageError
from importer.runs.results_folder import refuse_untrusted
from importer.settings import LedgerAddress, Settings


@dataclass(frozen=True, slots=True)
class CopiedLedger:
    """A copy that was compared with its source. `settings`: what to set from now on, by the names of the settings."""

    source: str
    target: str
    counts: Copied
    settings: dict[str, str]


def copy(source: str, target: str, settings: Settings) -> CopiedLedger:
    """Copy a ledger into one that is new or empty.

    Raises:
        UsageError: an address contains a password, or there is no ledger to copy.
        Busy, UnusableInput: see `copy_ledger`.
    """
    addresses = []
    for location in (source, target):
        refuse_untrusted(settings.model_copy(update={"ledger": location}))
        ledger_name(location)
        if has_password(location):
            raise UsageError(
                "other users of this computer can see a password on the command line; leave it out of the address, "
                "and put it into ~/.pgpass or PGPASSWORD"
            )
        addresses.append(LedgerAddress(location, settings.ledger_key_file))
    found = copy_ledger(*addresses)
    key = {"IMPORTER_LEDGER_KEY_FILE": str(settings.ledger_key_file)} if is_on_server(target) else {}
    return CopiedLedger(ledger_name(source), ledger_name(target), found, {"IMPORTER_LEDGER": target, **key})
