"""`make mutants`: plants faults into a copy of the code, one at a time; the suite must catch each.

Each fault is one that would break the promise of "every row once", in the words that a careless change might use.
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
    """A fault: the text of a file that is changed, and the tests that are to notice."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]


_SENDING = ("tests/load/test_loader.py", "tests/load/test_stops.py", "tests/load/test_kill.py")
_NEXT = ("tests/load/test_next_step.py", *_SENDING)

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
        "what the ledger could not write is sent all the same",
        "load/sender.py",
        "            if refusal is None:\n",
        "            if not isinstance(refusal, NotAllowed):\n",
        _SENDING,
    ),
    Mutant(
        "an answer is not recorded",
        "load/sender.py",
        "        self._record(step.job, step.job.attempts, step.state)\n",
        "",
        _SENDING,
    ),
    Mutant(
        "the end does not wait for what is on its way",
        "load/sender.py",
        "        while self.in_flight:\n",
        "        while False:\n",
        _SENDING,
    ),
    Mutant(
        "a row that is to be sent again has an outcome already",
        "load/sender.py",
        "            self.waiting.add(step.job._replace(is_probe=False), step.next, step.due)\n",
        "            self.waiting.add(step.job._replace(is_probe=False), step.next, step.due)\n"
        "            self._done.put(outcome_of(step.job, step.state, step.run.stop))\n",
        _SENDING,
    ),
    Mutant(
        "a row that is a probe is sent once more",
        "load/jobs.py",
        "            self._sent_before.remove(job)\n",
        "            pass\n",
        _SENDING,
    ),
    Mutant(
        "rows go on in a pause",
        "load/sender.py",
        "        if state.suspension is not None:\n            if self.is_probing",
        "        if False:\n            if self.is_probing",
        _SENDING,
    ),
    Mutant(
        "rows go on while a person has paused the run",
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
        "a row in doubt is told as not sent when the run stops",
        "load/jobs.py",
        "        if self.prior is not PriorAttempt.NONE:\n            return State.UNCONFIRMED\n",
        "",
        _SENDING,
    ),
    Mutant(
        "a doubt is forgotten",
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
        "a probe counts as a try",
        "load/next_step.py",
        "    is_counted = not job.is_probe and job.status != 503\n",
        "    is_counted = job.status != 503\n",
        _NEXT,
    ),
    Mutant(
        "a 503 counts as a try",
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
        "nobody is held after a Retry-After",
        "load/next_step.py",
        "        wait = _backoff(run.holds, conditions) if asked is None else asked\n",
        "        wait = _backoff(run.holds, conditions)\n",
        _NEXT,
    ),
    Mutant(
        "no share of refusals holds anybody",
        "load/next_step.py",
        "        if run.window.count(_REFUSED) > _REFUSED_OF_WINDOW:\n",
        "        if run.window.count(_REFUSED) > WINDOW:\n",
        _NEXT,
    ),
    Mutant(
        "the pause never begins",
        "load/next_step.py",
        "    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:\n",
        "    if run.stop is None:\n",
        _NEXT,
    ),
    Mutant(
        "one clear probe ends a pause",
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
        "an address that never answered is waited for",
        "load/next_step.py",
        "    is_new = not run.has_answered\n",
        "    is_new = False\n",
        _NEXT,
    ),
    Mutant(
        "a cut of the rate that changes nothing is never taken back",
        "load/rate_limiter.py",
        "        self._rate = self._measured = None\n",
        "        self._measured = None\n",
        ("tests/load/test_learned_rate.py",),
    ),
    Mutant(
        "a 400 settles a doubt of a pool",
        "load/next_step.py",
        " and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:\n",
        " and prior is PriorAttempt.SAME_BYTES:\n",
        _NEXT,
    ),
    Mutant(
        "a 503 is taken for refused",
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
        "libcurl may send again where a kept connection dies",
        "service/curl_request.py",
        "        if self.sent:\n            return int(pycurl.PREREQFUNC_ABORT)\n",
        "        if self.sent:\n            return int(pycurl.PREREQFUNC_OK)\n",
        ("tests/service/test_traps.py",),
    ),
    Mutant(
        "a connection that has ended is used for one more request",
        "service/curl_request.py",
        "        if not self._kept.take(key, is_encrypted=self._is_encrypted):\n",
        "        if not self._kept.take(key, is_encrypted=self._is_encrypted) and False:\n",
        ("tests/service/test_traps.py", "tests/service/test_many_at_once.py"),
    ),
    Mutant(
        "a second answer that lies in the TLS library is taken for the next row's",
        "service/curl_transport.py",
        "        if is_earlier and isinstance(outcome, RawReply):\n",
        "        if is_earlier and isinstance(outcome, RawReply) and False:\n",
        ("tests/service/test_two_answers.py",),
    ),
    Mutant(
        "an interim answer is taken for the answer, and the answer for that to the next row",
        "service/requests_transport.py",
        "        return version, http.HTTPStatus.CONTINUE if status < 200 else status, reason\n",
        "        return version, status, reason\n",
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
        "a 409 after our own attempt is called plain",
        "load/explanations.py",
        "() if job.prior is PriorAttempt.NONE else (CREATED_EARLIER,)",
        "()",
        ("tests/load",),
    ),
    Mutant(
        "a 409 that only the ledger knows of is called plain",
        "runs/finalize.py",
        "if state.state is State.ALREADY_EXISTS and state.after_unconfirmed:",
        "if False:",
        ("tests/cli/test_closing.py",),
    ),
    Mutant(
        "recovery forgets what was in flight",
        "ledger/sqlite_runs.py",
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
        "                journal.record(_outcome_of_state(state))\n",
        "                journal.record(Outcome(row.number, OutcomeKind.NOT_SENT))\n",
        ("tests/cli/test_closing.py",),
    ),
    Mutant(
        "the manifest gets its ending before the journal is complete",
        "runs/finalize.py",
        "        progress = _complete_journal(folder, manifest, ledger, limits)\n",
        "        progress = Progress(manifest.rows or 0)\n",
        ("tests/cli/test_closing.py",),
    ),
    Mutant(
        "who is done is sent again",
        "load/loader.py",
        "        if known.state in DONE:\n",
        "        if known.state is State.ALREADY_EXISTS:\n",
        ("tests/load", "tests/cli/test_run.py"),
    ),
    Mutant(
        "the database allows two open attempts",
        "ledger/sqlite_tables.py",
        "CREATE UNIQUE INDEX one_open_attempt",
        "CREATE INDEX one_open_attempt",
        ("tests/ledger",),
    ),
)

CONTROL = Mutant("no fault at all", "", "", "", tuple(sorted({test for mutant in MUTANTS for test in mutant.tests})))
"""What every mutant's tests say of the code as it is: nothing."""


@dataclass(frozen=True)
class Verdict:
    """Whether a planted fault was caught, and by which test."""

    mutant: Mutant
    caught_by: str | None
    seconds: float


def misfit(mutant: Mutant) -> str:
    """Why a mutant cannot be planted into the code as it is, "" where it can."""
    path = PROJECT / "importer" / mutant.file
    count = path.read_text(encoding="utf-8").count(mutant.before) if path.is_file() else 0
    gone = [test for test in mutant.tests if not (PROJECT / test).exists()]
    if count == 1 and not gone:
        return ""
    where = f"importer/{mutant.file} has this {count} times, and should once:\n{mutant.before}"
    what = f"these tests are gone: {', '.join(gone)}" if gone else where
    return f"the planted fault {mutant.name!r} (tests/crash/mutants.py) is to follow the code; {what}"


def plant(mutant: Mutant, place: Path) -> None:
    """Change the copy, unless it is the control."""
    if mutant is CONTROL:
        return
    path = place / "importer" / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")


def try_mutant(mutant: Mutant) -> Verdict:
    """Plant the fault in a copy of the project, and run the tests that are to notice."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in _COPIED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, place)
        plant(mutant, place)
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(place)},
            capture_output=True,
            text=True,
            check=False,
        )
    found = [line.split(" - ")[0].split(" ", 1)[1] for line in ran.stdout.splitlines() if line.startswith("FAILED")]
    return Verdict(mutant, found[0] if found else None, time.monotonic() - began)


def main() -> int:
    """Try all; the exit code is 1 where one was not caught."""
    misfits = [found for mutant in MUTANTS if (found := misfit(mutant))]
    if misfits:
        print("\n\n".join(misfits))  # noqa: T201
        return 1
    control = try_mutant(CONTROL)
    if control.caught_by:
        print(f"the tests fail as it is: {control.caught_by}; mend that first")  # noqa: T201
        return 1
    missed = 0
    for mutant in MUTANTS:
        verdict = try_mutant(mutant)
        missed += verdict.caught_by is None
        shown = f"caught by {verdict.caught_by}" if verdict.caught_by else "NOT CAUGHT"
        print(f"{mutant.name}: {shown} ({verdict.seconds:.0f} s)", flush=True)  # noqa: T201
    print(f"{len(MUTANTS) - missed} of {len(MUTANTS)} planted faults were caught")  # noqa: T201
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
