"""Leftovers of runs that were killed before they sent anything: the next command removes and reports them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from importer.app.cleanup import remove_abandoned
from importer.files import internal_folder
from importer.ledger import RunRecord, open_ledger
from importer.runs.manifest import write_manifest
from importer.runs.presences import Presences
from importer.runs.results_folder import make_private_folder
from importer.runs.table import RunTable
from tests.cli.conftest import Served
from tests.cli.test_finalize import MANIFEST, NOON, RUN
from tests.cli.test_run import RUN as COMMAND
from tests.cli.test_run import people


def killed(out: Path, run: str = RUN) -> Path:
    """A run whose process was killed right after it had copied its file."""
    internal_folder(out)
    (out / ".importer" / f"{run}.running").touch()
    folder = make_private_folder(out, run)
    (folder / "source.csv").write_text("E-mail\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", [COMMAND, ("check", *COMMAND[1:])], ids=["run", "check"])
def test_the_next_command_removes_leftovers(serve: Callable[..., Served], command: tuple[str, ...]) -> None:
    """Copies of a file that was never sent are removed; the message names the run."""
    served = serve()
    people(served.door.folder, 2)
    folder = killed(served.door.folder / "results")
    ran = served(*command)
    assert ran.code == 0
    assert f"Run {RUN} was killed before it sent anything; its files were removed.\n" in ran.err
    assert not folder.exists()
    assert list(folder.parent.glob(".importer/*.running")) == []


def test_a_run_that_is_being_planned_is_left_alone(tmp_path: Path) -> None:
    """Its process announces that it is alive."""
    folder = killed(tmp_path)
    presence = Presences(tmp_path).announce(RUN)
    assert list(remove_abandoned(tmp_path, None, Presences(tmp_path))) == []
    presence.end()
    assert folder.exists()


def test_a_planned_run_that_the_ledger_does_not_know_is_removed(tmp_path: Path) -> None:
    """It had its manifest, and was killed before it started."""
    folder = killed(tmp_path)
    write_manifest(folder, MANIFEST)
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        assert list(remove_abandoned(tmp_path, ledger, Presences(tmp_path))) == [RUN]
    assert not folder.exists()


def test_a_killed_check_is_removed(tmp_path: Path) -> None:
    """It has outcomes in its journal, but sent nothing."""
    folder = killed(tmp_path)
    write_manifest(folder, replace(MANIFEST, dry_run=True))
    with RunTable(folder) as journal:
        journal.begin()
    assert list(remove_abandoned(tmp_path, None, Presences(tmp_path))) == [RUN]


def test_a_run_killed_before_it_had_a_folder_is_not_reported(tmp_path: Path) -> None:
    """Only its announcement is left, and is removed."""
    (internal_folder(tmp_path) / f"{RUN}.running").touch()
    assert list(remove_abandoned(tmp_path, None, Presences(tmp_path))) == []
    assert list((tmp_path / ".importer").iterdir()) == []


def test_a_run_that_may_have_sent_something_is_kept(tmp_path: Path) -> None:
    """One that the ledger knows, one that has begun, one that cannot be read."""
    known, started, unreadable = (f"20260301-12000{number}-abcd" for number in range(3))
    for name in (known, started):
        write_manifest(killed(tmp_path, name), replace(MANIFEST, run=name))
    with RunTable(tmp_path / started) as journal:
        journal.begin()
    (killed(tmp_path, unreadable) / "run.json").write_text("{", encoding="utf-8")
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.begin_run(RunRecord(known, MANIFEST.scope, NOON))
        assert list(remove_abandoned(tmp_path, ledger, Presences(tmp_path))) == []
