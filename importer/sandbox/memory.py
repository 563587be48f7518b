"""What the sandbox has accepted: one application for each person and job post, one candidate for each pool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from importer.sandbox.company import Company
from importer.sandbox.journal import Journal
from importer.sandbox.routes import Operation


@dataclass(frozen=True, slots=True)
class Accepted:
    """One accepted submission: what was asked for, for which target, with which body, and when."""

    operation: Operation
    target: str
    email: str
    body: dict[str, Any]
    at: str


class Memory:
    """Remembers what was accepted, in order; with a journal it does so beyond the end of the process."""

    def __init__(self, company: Company, path: Path | None = None) -> None:
        """Begins with whom the company knows already, and with what the journal at `path` holds.

        Raises:
            SandboxUnusable: the journal cannot be opened, is held by another sandbox, or is no journal.
        """
        self._there: set[tuple[Operation, str, str]] = set()
        self._accepted: list[Accepted] = []
        for post in company.job_posts.values():
            self._know(Operation.APPLY, post.hash, post.already_applied)
        for pool in company.talent_pools.values():
            self._know(Operation.ADD_TO_POOL, pool.id, pool.already_there)
        self._journal = Journal(path) if path else None
        if self._journal:
            for record in self._journal.records:
                self._remember(Accepted(Operation(record["operation"]), *(record[name] for name in _REST)))

    def accept(self, operation: Operation, target: str, body: dict[str, Any], at: datetime) -> bool:
        """Remembers a submission; False if this person is there already. E-mails are told apart casefolded.

        The journal has it before this returns. Raises OSError, with nothing remembered, if it cannot be written.
        """
        if (operation, target, body["email"].casefold()) in self._there:
            return False
        accepted = Accepted(operation, target, body["email"], body, at.isoformat())
        if self._journal:
            record = {name: getattr(accepted, name) for name in ("operation", *_REST)}
            self._journal.append(json.dumps(record).encode())
        self._remember(accepted)
        return True

    def accepted(self, operation: str | None = None, target: str | None = None) -> list[dict[str, Any]]:
        """The bodies accepted so far, in order; of one operation ("apply", "add-candidate") or target if given."""
        return [
            one.body for one in self._accepted if operation in (None, one.operation) and target in (None, one.target)
        ]

    def __len__(self) -> int:
        return len(self._accepted)

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    def _know(self, operation: Operation, target: str, emails: Iterable[str]) -> None:
        self._there.update((operation, target, email.casefold()) for email in emails)

    def _remember(self, accepted: Accepted) -> None:
        self._know(accepted.operation, accepted.target, [accepted.email])
        self._accepted.append(accepted)


_REST = ("target", "email", "body", "at")
