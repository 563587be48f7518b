"""`make mutants`: applies mutations to a copy of the code, one at a time; the test suite must catch each.

Each mutation is a plausible mistake that would break the guarantee that every row is entered once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
_LONGEST = 600  # seconds
_NO_END = "a test that does not end"
_COPIED = ("importer", "tests", "mappings", "sample_data", "pyproject.toml")


@dataclass(frozen=True)
class Mutant:
    """A mutation: the changed text of a file, and the tests that must fail."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...] = ("tests/sending",)


_KILLS = ("tests/sending", "tests/crash/test_kills.py")
_TRANSPORT = ("tests/service/test_traps.py", "tests/service/test_two_answers.py", "tests/service/test_many_at_once.py")
_ON_SERVER = ("tests/ledger/test_postgres_ledger.py",)

MUTANTS = (
    Mutant(
        "the request does not wait for its intent",
        "sending/loop.py",
        "        try:\n            self._ledger.write(writes)\n",
        "        for pending in intended:\n"
        "            pending.state = State.IN_FLIGHT\n"
        "            self._senders.send(pending)\n"
        "        intended = []\n"
        "        try:\n            self._ledger.write(writes)\n",
        _KILLS,
    ),
    Mutant(
        "a response is not recorded",
        "sending/loop.py",
        "        self._record(pending, state)\n        self._goes_on()\n",
        "        self._goes_on()\n",
    ),
    Mutant(
        "the end does not wait for requests in flight",
        "sending/loop.py",
        "        while self._on_way:\n",
        "        while False:\n",
    ),
    Mutant(
        "a row that will be resent already has an outcome",
        "sending/loop.py",
        "            self._bytes += len(pending.body)\n",
        "            self._bytes += len(pending.body)\n"
        "            self._outcomes.append(outcome_of(pending, state, None))\n",
    ),
    Mutant(
        "rows are sent during a hold",
        "sending/health.py",
        "        if self.hold is not None:\n            return int(",
        "        if False:\n            return int(",
    ),
    Mutant(
        "rows are sent while the user has paused the run",
        "sending/loop.py",
        "is_over = self._health.stop is not None or self._paused_at is not None\n",
        "is_over = self._health.stop is not None\n",
        ("tests/sending/test_cancellation.py",),
    ),
    Mutant(
        "a paused run gives up",
        "sending/loop.py",
        "        if self._paused_at is None:\n            health.time_passes(now)\n",
        "        health.time_passes(now)\n",
        ("tests/sending/test_cancellation.py",),
    ),
    Mutant(
        "an unconfirmed row is reported as not sent when the run stops",
        "sending/answers.py",
        "        if self.may_exist:\n            return State.UNCONFIRMED\n",
        "",
    ),
    Mutant(
        "an unconfirmed request is forgotten",
        "sending/health.py",
        "        pending.may_exist = True\n        self._inconclusive",
        "        self._inconclusive",
    ),
    Mutant(
        "an unconfirmed row is sent again at once",
        "sending/health.py",
        "        return state, now + max(delay, asked or 0.0)\n",
        "        return state, now\n",
    ),
    Mutant(
        "a row is sent without end",
        "sending/health.py",
        " or pending.tries >= self._options.max_attempts:\n            return self._end(state, now)\n        delay",
        ":\n            return self._end(state, now)\n        delay",
    ),
    Mutant(
        "a row waits for less than its Retry-After",
        "sending/senders.py",
        "        return answer.retry_after\n",
        "        return 1.0\n",
    ),
    Mutant(
        "waiting rows make room for new ones",
        "sending/loop.py",
        "self._on_way + len(self._waiting) < places",
        "self._on_way < places",
    ),
    Mutant(
        "a turn that has passed unused is still taken",
        "sending/pace.py",
        "taken is not None and taken > now - max(1 / limit, _LATE):",
        "taken is not None:",
    ),
    Mutant(
        "a row that waits for long is written as sent",
        "sending/loop.py",
        "                self._record(pending, pending.state_if_waiting)\n                heapq.heappush(self._waiting",
        "                heapq.heappush(self._waiting",
    ),
    Mutant(
        "a row that has waited for long is sent without an intent",
        "sending/loop.py",
        "            self._intend(pending)\n",
        "            (self._senders.send if pending.refusals else self._intend)(pending)\n",
    ),
    Mutant(
        "the hold never begins",
        "sending/health.py",
        "        elif len(self._inconclusive) >= _INCONCLUSIVE_IN_A_ROW:\n",
        "        elif False:\n",
    ),
    Mutant(
        "a run never gives up", "sending/health.py", "        if now < self.stalls_at - _TINY:\n", "        if now:\n"
    ),
    Mutant(
        "a service that never answered is waited for",
        "sending/health.py",
        "        if since is not None and not self._has_answered:\n",
        "        if False:\n",
    ),
    Mutant(
        "one odd answer rejects a row",
        "sending/health.py",
        "        return pending.odd == pending.status and pending.status in OF_THE_ROW and",
        "        return pending.status in OF_THE_ROW or",
    ),
    Mutant(
        "a token that is gone does not stop the run",
        "sending/health.py",
        "            if hold.left and now >= hold.since + _ODD_SECONDS - _TINY:\n",
        "            if False:\n",
    ),
    Mutant(
        "a 400 settles an unconfirmed row of a pool",
        "sending/answers.py",
        " and operation is Operation.APPLY and not pending.has_changed:\n",
        " and not pending.has_changed:\n",
    ),
    Mutant(
        "a 503 is treated as rejected",
        "sending/answers.py",
        "Rule((425, 429), State.PLANNED",
        "Rule((425, 429, 503), State.PLANNED",
    ),
    Mutant(
        "a changed row counts as the same bytes",
        "sending/answers.py",
        "self.earlier is not None and self.earlier.body_digest != self.body_digest",
        "False",
    ),
    Mutant(
        "what may have left is treated as not sent",
        "service/requests_transport.py",
        "        self._was_read = True\n",
        "        pass\n",
        _TRANSPORT,
    ),
    Mutant(
        "libcurl may resend when a kept connection fails",
        "service/curl_transport.py",
        "        if self._was_started:\n            return int(pycurl.PREREQFUNC_ABORT)\n",
        "",
        _TRANSPORT,
    ),
    Mutant(
        "a closed connection is used for another request",
        "service/curl_transport.py",
        "kept != _NONE and (is_old or _has_something_to_read(kept))",
        "False",
        _TRANSPORT,
    ),
    Mutant(
        "an interim response is taken for the final one, and the final one for the next row's",
        "service/requests_transport.py",
        "        while http.HTTPStatus.SWITCHING_PROTOCOLS < self.status < _FIRST_FINAL:\n",
        "        while False:\n",
        _TRANSPORT,
    ),
    Mutant(
        "a 5xx is treated as not sent",
        "sending/answers.py",
        "Rule(range(500, 600), State.UNCONFIRMED",
        "Rule(range(500, 600), State.PLANNED",
    ),
    Mutant(
        "a 409 after our own request is not explained",
        "sending/explanations.py",
        "(CREATED_EARLIER,) if pending.may_exist else ()",
        "()",
    ),
    Mutant(
        "a 409 that only the ledger knows of is not explained",
        "runs/finalize.py",
        "if state.state is State.ALREADY_EXISTS and state.after_unconfirmed:",
        "if False:",
        ("tests/cli/test_finalize.py",),
    ),
    Mutant(
        "recovery forgets what was in flight",
        "ledger/ledger.py",
        ".values(state=State.UNCONFIRMED)",
        ".values(state=State.FAILED)",
        ("tests/ledger", "tests/sending"),
    ),
    Mutant(
        "synchronous is off",
        "store/sqlite.py",
        '"synchronous = FULL"',
        '"synchronous = OFF"',
        ("tests/crash/test_power_cuts.py",),
    ),
    Mutant(
        "the lock is not taken",
        "ledger/sqlite_ledger.py",
        "            raise self._busy(name, busy)\n",
        "            self._free[name] = int\n            return\n",
        ("tests/ledger/test_store.py", "tests/crash/test_kills.py"),
    ),
    Mutant(
        "a row is lost between reader and sender",
        "sending/known.py",
        "    while batch := list(islice(candidates, size)):\n",
        "    while batch := list(islice(candidates, size)):\n        batch = batch[: 7 if len(batch) == 8 else None]\n",
        ("tests/sending", "tests/cli/test_run.py"),
    ),
    Mutant(
        "a killed run's report forgets what the ledger knows",
        "runs/finalize.py",
        "                outcome = outcome_of_state(known)\n",
        "                outcome = Outcome(first, OutcomeKind.NOT_SENT)\n",
        ("tests/cli/test_finalize.py",),
    ),
    Mutant(
        "the manifest is finished before the table is complete",
        "runs/finalize.py",
        "    _complete_table(folder, manifest.run, ledger, known_before)\n",
        "",
        ("tests/cli/test_finalize.py",),
    ),
    Mutant(
        "a row that was entered with another e-mail address is sent again",
        "runs/known_rows.py",
        "            if one.known.state in DONE:\n",
        "            if False:\n",
        ("tests/cli/test_known_rows.py",),
    ),
    Mutant(
        "a created candidate is sent again",
        "sending/known.py",
        "    if known.state in DONE:\n",
        "    if known.state is State.ALREADY_EXISTS:\n",
        ("tests/sending", "tests/cli/test_run.py"),
    ),
    Mutant(
        "a commit whose answer was lost is not looked up",
        "ledger/ledger.py",
        "                if all(known.get(each)",
        "                if False and all(known.get(each)",
        _ON_SERVER,
    ),
    Mutant(
        "a transaction does not check who holds the target",
        "ledger/database.py",
        "            self._verify_owners(connection)\n",
        "",
        _ON_SERVER,
    ),
    Mutant(
        "a lost lock is taken again although another run had it",
        "ledger/postgres_ledger.py",
        "                    self._verify_owners(session)\n",
        "",
        _ON_SERVER,
    ),
    Mutant(
        "two processes may intend the same known candidate",
        "ledger/ledger.py",
        "_WANTED.order_by(people.c.identity).with_for_update()",
        "_WANTED",
        _ON_SERVER,
    ),
    Mutant(
        "a server may lose what it confirmed",
        "ledger/postgres_ledger.py",
        'found[:2] != ("on", "on")',
        'found[1] != "on"',
        _ON_SERVER,
    ),
)

CONTROL = Mutant("no mutation", "", "", "", tuple(sorted({test for mutant in MUTANTS for test in mutant.tests})))
"""The tests of all mutants must pass on the unchanged code."""


@dataclass(frozen=True)
class Result:
    """Whether a mutant was caught, and by which test."""

    mutant: Mutant
    caught_by: str | None
    seconds: float


def mismatch(mutant: Mutant) -> str:
    """Why a mutant cannot be applied to the code, or ""."""
    path = PROJECT / "importer" / mutant.file
    count = path.read_text(encoding="utf-8").count(mutant.before) if path.is_file() else 0
    missing = [test for test in mutant.tests if not (PROJECT / test).exists()]
    if count == 1 and not missing:
        return ""
    where = f"importer/{mutant.file} has this text {count} times instead of once:\n{mutant.before}"
    what = f"these tests do not exist: {', '.join(missing)}" if missing else where
    return f"update the mutant {mutant.name!r} in tests/crash/mutants.py; {what}"


def apply(mutant: Mutant, place: Path) -> None:
    """Change the copy, except for the control."""
    if mutant is CONTROL:
        return
    path = place / "importer" / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")


def try_mutant(mutant: Mutant) -> Result:
    """Apply the mutant to a copy of the project, and run its tests."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in _COPIED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, place)
        apply(mutant, place)
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests],
                cwd=place,
                env={**os.environ, "PYTHONPATH": str(place)},
                capture_output=True,
                text=True,
                timeout=_LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Result(mutant, _NO_END, time.monotonic() - began)
    found = [line.split(" - ")[0].split(" ", 1)[1] for line in ran.stdout.splitlines() if line.startswith("FAILED")]
    if ran.returncode and not found:  # pytest-timeout ends the whole process, without a summary
        found = [_NO_END]
    return Result(mutant, found[0] if found else None, time.monotonic() - began)


def main() -> int:
    """Try all mutants; returns 1 if one was not caught."""
    mismatches = [found for mutant in MUTANTS if (found := mismatch(mutant))]
    if mismatches:
        print("\n\n".join(mismatches))  # noqa: T201
        return 1
    control = try_mutant(CONTROL)
    if control.caught_by:
        print(f"the tests fail without a mutant: {control.caught_by}; fix that first")  # noqa: T201
        return 1
    missed = 0
    for mutant in MUTANTS:
        result = try_mutant(mutant)
        missed += result.caught_by is None
        shown = f"caught by {result.caught_by}" if result.caught_by else "NOT CAUGHT"
        print(f"{mutant.name}: {shown} ({result.seconds:.0f} s)", flush=True)  # noqa: T201
    print(f"{len(MUTANTS) - missed} of {len(MUTANTS)} mutants were caught")  # noqa: T201
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
