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
_COPIED = ("importer", "tests", "mappings", "sample_data", "pyproject.toml")


@dataclass(frozen=True)
class Mutant:
    """A mutation: the changed text of a file, and the tests that must fail."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]


_SENDING = ("tests/load/test_loader.py", "tests/load/test_stops.py", "tests/load/test_cancellation.py")
_NEXT = ("tests/load/test_next_step.py", *_SENDING)
_ON_SERVER = ("tests/ledger/test_postgres_ledger.py",)

MUTANTS = (
    Mutant(
        "the request does not wait for its intent",
        "load/sender.py",
        "        self._ledger.write_intent(intent, on_done)\n",
        "        on_done(None)\n        self._ledger.write_intent(intent, lambda refusal: None)\n",
        (*_SENDING, "tests/crash/test_kills.py"),
    ),
    Mutant(
        "a request that is sent again does not wait for its intent",
        "load/sender.py",
        "        self._ledger.write_intent(intent, on_done)\n",
        "        if job.attempts:\n"
        "            on_done(None)\n"
        "        self._ledger.write_intent(intent, (lambda refusal: None) if job.attempts else on_done)\n",
        (*_SENDING, "tests/crash/test_kills.py"),
    ),
    Mutant(
        "a row that the ledger could not write is sent anyway",
        "load/sender.py",
        "            if refusal is None:\n",
        "            if not isinstance(refusal, NotAllowed):\n",
        _SENDING,
    ),
    Mutant(
        "a response is not recorded",
        "load/sender.py",
        "        self._record(step.job, step.job.attempts, step.state)\n",
        "",
        _SENDING,
    ),
    Mutant(
        "the end does not wait for requests in flight",
        "load/sender.py",
        "        while self.in_flight:\n",
        "        while False:\n",
        _SENDING,
    ),
    Mutant(
        "a row that will be resent already has an outcome",
        "load/sender.py",
        "            self.waiting.add(step.job._replace(is_probe=False), step.next, step.due)\n",
        "            self.waiting.add(step.job._replace(is_probe=False), step.next, step.due)\n"
        "            self._done.put(outcome_of(step.job, step.state, step.run.stop))\n",
        _SENDING,
    ),
    Mutant(
        "a probe row is sent once more",
        "load/jobs.py",
        "            self._sent_before.remove(job)\n",
        "            pass\n",
        _SENDING,
    ),
    Mutant(
        "rows are sent during a suspension",
        "load/sender.py",
        "        if state.suspension is not None:\n            if self.is_probing",
        "        if False:\n            if self.is_probing",
        _SENDING,
    ),
    Mutant(
        "rows are sent while the user has paused the run",
        "load/sender.py",
        " or self._cancellation.is_set() or self._cancellation.is_paused:\n",
        " or self._cancellation.is_set():\n",
        ("tests/load/test_cancellation.py",),
    ),
    Mutant(
        "a paused run gives up",
        "load/loader.py",
        "        if not is_paused:\n",
        "        if self._sender is not None:\n",
        ("tests/load/test_cancellation.py",),
    ),
    Mutant(
        "an unconfirmed row is reported as not sent when the run stops",
        "load/jobs.py",
        "        if self.prior is not PriorAttempt.NONE:\n            return State.UNCONFIRMED\n",
        "",
        _SENDING,
    ),
    Mutant(
        "an unconfirmed request is forgotten",
        "load/next_step.py",
        "prior=PriorAttempt.SAME_BYTES if job.prior is PriorAttempt.NONE else job.prior",
        "prior=job.prior",
        _NEXT,
    ),
    Mutant(
        "an unconfirmed row is sent again at once",
        "load/next_step.py",
        "Next.RESEND, conditions.now + max(delay, asked or 0.0))",
        "Next.RESEND, conditions.now)",
        _NEXT,
    ),
    Mutant(
        "a probe counts as an attempt",
        "load/next_step.py",
        "    is_counted = not job.is_probe and job.status != 503\n",
        "    is_counted = job.status != 503\n",
        _NEXT,
    ),
    Mutant(
        "a 503 counts as an attempt",
        "load/next_step.py",
        "    is_counted = not job.is_probe and job.status != 503\n",
        "    is_counted = not job.is_probe\n",
        _NEXT,
    ),
    Mutant(
        "a row waits for less than its Retry-After",
        "load/next_step.py",
        "    due = conditions.now + (_backoff(job.refusals, conditions) if asked is None else asked)\n",
        "    due = conditions.now + _backoff(job.refusals, conditions)\n",
        _NEXT,
    ),
    Mutant(
        "a Retry-After does not delay other rows",
        "load/next_step.py",
        "        wait = _backoff(suspension.holds, conditions) if asked is None else asked\n",
        "        wait = _backoff(suspension.holds, conditions)\n",
        _NEXT,
    ),
    Mutant(
        "no share of 429s delays other rows",
        "load/next_step.py",
        "        if run.window.count(_REFUSED) > _REFUSED_OF_WINDOW:\n",
        "        if run.window.count(_REFUSED) > WINDOW:\n",
        _NEXT,
    ),
    Mutant(
        "the suspension never begins",
        "load/next_step.py",
        "    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:\n",
        "    if run.stop is None:\n",
        _NEXT,
    ),
    Mutant(
        "one successful probe ends a suspension",
        "load/next_step.py",
        "    if clear >= _CLEAR_PROBES:\n",
        "    if clear:\n",
        _NEXT,
    ),
    Mutant(
        "a run never gives up",
        "load/next_step.py",
        "    return _stopped(run, no_progress(timeout, run.suspension.reason if run.suspension else None))\n",
        "    return run\n",
        _NEXT,
    ),
    Mutant(
        "a service that never answered is waited for",
        "load/next_step.py",
        "    is_new = not run.has_answered\n",
        "    is_new = False\n",
        _NEXT,
    ),
    Mutant(
        "a rate cut without effect is never reverted",
        "load/rate_limiter.py",
        "        self._rate = self._measured = None\n",
        "        self._measured = None\n",
        ("tests/load/test_learned_rate.py",),
    ),
    Mutant(
        "a 400 settles an unconfirmed row of a pool",
        "load/next_step.py",
        " and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:\n",
        " and prior is PriorAttempt.SAME_BYTES:\n",
        _NEXT,
    ),
    Mutant(
        "a 503 is treated as rejected",
        "load/next_step.py",
        "Rule((425, 429), Disposition.AGAIN",
        "Rule((425, 429, 503), Disposition.AGAIN",
        _NEXT,
    ),
    Mutant(
        "a changed row counts as the same bytes",
        "load/loader.py",
        "PriorAttempt.SAME_BYTES if is_unchanged else PriorAttempt.OTHER_BYTES",
        "PriorAttempt.SAME_BYTES",
        _SENDING,
    ),
    Mutant(
        "a time-out is treated as not sent",
        "service/transport_api.py",
        "return self.phase is not Phase.CONNECTING",
        "return False",
        ("tests/service", "tests/load"),
    ),
    Mutant(
        "libcurl may resend when a kept connection fails",
        "service/curl_request.py",
        "        if self.sent:\n            return int(pycurl.PREREQFUNC_ABORT)\n",
        "        if self.sent:\n            return int(pycurl.PREREQFUNC_OK)\n",
        ("tests/service/test_traps.py",),
    ),
    Mutant(
        "a closed connection is used for another request",
        "service/curl_request.py",
        "        if not self._kept.take(key, is_encrypted=self._is_encrypted):\n",
        "        if not self._kept.take(key, is_encrypted=self._is_encrypted) and False:\n",
        ("tests/service/test_traps.py", "tests/service/test_many_at_once.py"),
    ),
    Mutant(
        "a second response buffered in the TLS library is taken for the next row's",
        "service/curl_transport.py",
        "        if is_earlier and isinstance(outcome, RawReply):\n",
        "        if is_earlier and isinstance(outcome, RawReply) and False:\n",
        ("tests/service/test_two_answers.py",),
    ),
    Mutant(
        "an interim response is taken for the final one, and the final one for the next row's",
        "service/requests_transport.py",
        "        while status < 200:\n",
        "        while status in (0, 100):\n",
        ("tests/service/test_traps.py",),
    ),
    Mutant(
        "a 5xx is treated as not sent",
        "load/next_step.py",
        "Rule(range(500, 600), Disposition.AMBIGUOUS",
        "Rule(range(500, 600), Disposition.AGAIN",
        ("tests/load",),
    ),
    Mutant(
        "a 409 after our own request is not explained",
        "load/explanations.py",
        "() if job.prior is PriorAttempt.NONE else (CREATED_EARLIER,)",
        "()",
        ("tests/load",),
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
        "ledger/sql_runs.py",
        "(State.UNCONFIRMED.value, State.IN_FLIGHT.value, *_values_of(scope))",
        "(State.FAILED.value, State.IN_FLIGHT.value, *_values_of(scope))",
        ("tests/ledger", "tests/load"),
    ),
    Mutant(
        "synchronous is off",
        "sqlite_file.py",
        'connection.execute(f"PRAGMA synchronous={self._durability}")',
        'connection.execute("PRAGMA synchronous=OFF")',
        ("tests/crash/test_power_cuts.py",),
    ),
    Mutant(
        "the lock is not taken",
        "file_lock.py",
        "        lock = acquire(path)\n    except Timeout:\n        raise Busy",
        "        lock = FileLock(path)\n    except Timeout:\n        raise Busy",
        ("tests/ledger/test_store.py", "tests/crash/test_kills.py"),
    ),
    Mutant(
        "a row is lost between reader and sender",
        "load/loader.py",
        "        size = min(size * 2, _LARGEST_BATCH)\n",
        "        size = min(size * 2, _LARGEST_BATCH)\n        batch = batch[:-1] if len(batch) == 8 else batch\n",
        ("tests/load", "tests/cli/test_run.py"),
    ),
    Mutant(
        "a killed run's report forgets what the ledger knows",
        "runs/finalize.py",
        "                outcome = outcome_of_state(state)\n",
        "                outcome = Outcome(row.number, OutcomeKind.NOT_SENT)\n",
        ("tests/cli/test_finalize.py",),
    ),
    Mutant(
        "the manifest is finished before the journal is complete",
        "runs/finalize.py",
        "        progress = _complete_journal(folder, manifest, ledger, limits)\n",
        "        progress = Progress(manifest.rows or 0)\n",
        ("tests/cli/test_finalize.py",),
    ),
    Mutant(
        "a created candidate is sent again",
        "load/loader.py",
        "    if known.state in DONE:\n",
        "    if known.state is State.ALREADY_EXISTS:\n",
        ("tests/load", "tests/cli/test_run.py"),
    ),
    Mutant(
        "the database allows two open attempts",
        "ledger/tables.py",
        "CREATE UNIQUE INDEX one_open_attempt",
        "CREATE INDEX one_open_attempt",
        ("tests/ledger",),
    ),
    Mutant(
        "a commit whose answer was lost is not looked up",
        "ledger/sql_ledger.py",
        "                if _is_written(connection, plan, at):\n",
        "                if False:\n",
        _ON_SERVER,
    ),
    Mutant(
        "a transaction does not check who holds the target",
        "ledger/postgres_database.py",
        "                self._locks.verify(statements)\n",
        "                pass\n",
        _ON_SERVER,
    ),
    Mutant(
        "a lost lock is taken again although another run had it",
        "ledger/postgres_locks.py",
        "                self._compare(statements)\n",
        "                pass\n",
        _ON_SERVER,
    ),
    Mutant(
        "two processes may intend the same known candidate",
        "ledger/postgres_database.py",
        'locking: ClassVar = "FOR UPDATE"',
        'locking: ClassVar = ""',
        _ON_SERVER,
    ),
    Mutant(
        "a server may lose what it confirmed",
        "ledger/postgres_server.py",
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
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(place)},
            capture_output=True,
            text=True,
            check=False,
        )
    found = [line.split(" - ")[0].split(" ", 1)[1] for line in ran.stdout.splitlines() if line.startswith("FAILED")]
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
