"""A ledger as a whole: copied to another place, and the rate that its runs share."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from importer.ledger import (
    Copied,
    ServiceRate,
    copy_ledger,
    has_password,
    is_on_server,
    ledger_name,
    open_existing_ledger,
)
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


def service_rates(settings: Settings) -> tuple[ServiceRate, ...]:
    """The rate of each service that runs have shared, and the processes that use it now.

    Raises:
        UsageError: runs share nothing, since their ledger is not on a server.
        UnusableInput: the ledger cannot be read.
    """
    if not is_on_server(settings.ledger_address):
        raise UsageError(
            "only runs whose ledger is in PostgreSQL share a rate; with a ledger in a file, --rate and IMPORTER_RATE "
            "are for each run. See docs/cluster.md"
        )
    with open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        return ledger.rates() if ledger is not None else ()
