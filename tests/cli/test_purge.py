"""`importer purge`: removes all personal data, and no candidate can be imported twice."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from importer.runs.results_folder import make_private_folder
from tests.cli.conftest import Served, candidate
from tests.cli.test_run import RUN, people
from tests.patience import PATIENCE

Serve = Callable[..., Served]
NAMES = (b"person1@example.com", b"+905550000001", b"people.csv", b"mapping.yaml")


def holding(folder: Path, *words: bytes) -> set[str]:
    """The files below a folder that hold one of the words."""
    return {
        path.name for path in folder.rglob("*") if path.is_file() and any(word in path.read_bytes() for word in words)
    }


def age(folder: Path, days: int) -> None:
    """Change the end time of a run to that long ago."""
    manifest = folder / "run.json"
    values = json.loads(manifest.read_text("utf-8"))
    values["ending"]["at"] = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    manifest.write_text(json.dumps(values), "utf-8")


def test_no_byte_is_left_and_no_candidate_is_imported_twice(serve: Serve) -> None:
    """After purge no file below the results folder holds a name, and the same file sends nothing."""
    served = serve()
    folder = served.door.folder
    people(folder, 40, candidate(99, Salary="a lot"))
    served(*RUN, "--json")
    results = folder / "results"
    assert holding(results, *NAMES) >= {"source.csv", "run.sqlite", "201_created.csv", "run.json"}
    purged = served("purge", "--older-than", "0d", "--yes")
    assert (purged.code, purged.err) == (0, "1 run removed.\n")
    assert holding(results, *NAMES) == set()
    assert {path.name for path in results.iterdir()} == {"ledger.sqlite", ".importer"}
    assert {path.suffix for path in (results / ".importer").iterdir()} == {".key", ".lock"}
    again = served(*RUN, "--json")
    assert again.counts == {"already_imported": 40, "invalid": 1}
    assert served("doctor").code == 0


def test_only_old_runs_go(serve: Serve) -> None:
    """A run that ended yesterday stays, with its copy and its name in the ledger."""
    served = serve()
    people(served.door.folder, 2)
    old, new = (served(*RUN, "--json").summary["run"] for _ in range(2))
    results = served.door.folder / "results"
    age(results / old, days=91)
    ended = json.loads((results / old / "run.json").read_text("utf-8"))["ending"]["at"]
    listed = served("purge", "--older-than", "90d", "--dry-run")
    assert listed.out.splitlines() == [f"results/{old}  ended {ended[:10]}"]
    assert listed.err == "1 run would be removed.\n"
    assert served("purge", "--older-than", "90d", "--yes").err == "1 run removed.\n"
    assert sorted(path.name for path in results.iterdir() if path.is_dir()) == [".importer", new]
    assert served("report", new, "--json").counts == {"already_imported": 2}


def test_what_killed_runs_left_goes_too(serve: Serve) -> None:
    """A folder without a manifest, with a copy of the file in it, is found by its name."""
    served = serve()
    left = make_private_folder(served.door.folder / "results", "20250101-020000-abcd")
    (left / "source.csv").write_text("person1@example.com", "utf-8")
    assert served("purge", "--older-than", "90d", "--yes").err == "1 run removed.\n"
    assert not left.exists()


def test_a_rehearsal_is_forgotten_too(serve: Serve) -> None:
    """Its candidates are real people: they are removed like those of other runs."""
    served = serve()
    people(served.door.folder, 3)
    served(*RUN, "--sandbox", "--json")
    results = served.door.folder / "results"
    assert holding(results, *NAMES)
    served("purge", "--older-than", "0d", "--yes")
    assert holding(results, *NAMES) == set()


def test_a_running_run_is_skipped(serve: Serve) -> None:
    """Nothing is removed while a run holds the lock of its target."""
    served = serve()
    people(served.door.folder, 300)
    with served.door.started(*RUN, "--json", "--rate", "4") as process:
        served.wait_for(2)
        purged = served("purge", "--older-than", "0d", "--yes")
        assert "skipped: it is running, or was killed: then importer report " in purged.err
        assert purged.err.splitlines()[-1] == "0 runs removed."
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 143


def test_nothing_is_removed_without_an_answer(serve: Serve) -> None:
    """Without a terminal nobody can be asked, so `--yes` is needed."""
    served = serve()
    people(served.door.folder, 2)
    run = served(*RUN, "--json").summary["run"]
    purged = served("purge", "--older-than", "0d")
    assert (purged.code, purged.err) == (2, "importer: nothing was removed: add --yes to remove without being asked\n")
    assert served("show", run).code == 0
    assert served("purge", "--older-than", "9d").code == 0  # there is nothing to remove
