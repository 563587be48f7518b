"""Runs of grouped rows and of child files: killed, gone on with from their copies, tried again, purged."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Served
from tests.samples.sample import ROOT
from tests.sources.corpus.writers import raw_xlsx

Serve = Callable[..., Served]
FILES = ROOT / "sample_data"


def grouped(folder: Path) -> tuple[str, ...]:
    """Seven rows of three candidates; the third contradicts itself."""
    shutil.copy(FILES / "combinations" / "candidates_flat.csv", folder)
    shutil.copy(ROOT / "mappings" / "combinations.yaml", folder)
    shutil.copytree(ROOT / "mappings" / "value_tables", folder / "value_tables")
    return "run", "candidates_flat.csv", "--mapping", "combinations.yaml"


def with_children(folder: Path) -> tuple[str, ...]:
    """Four candidates and two files with their schools and jobs; one row is left out, one is wrong."""
    for file in (FILES / "zoho_backup").iterdir():
        shutil.copy(file, folder)
    shutil.copy(ROOT / "mappings" / "zoho_backup.yaml", folder)
    shutil.copytree(ROOT / "mappings" / "value_tables", folder / "value_tables")
    return "run", "Candidates_001.csv", "--mapping", "zoho_backup.yaml"


def without_its_files(folder: Path) -> None:
    """Delete the files that the user named: only the copies of the run are left."""
    for path in (*folder.glob("*.csv"), *folder.glob("*o*.yaml")):
        path.unlink()
    shutil.rmtree(folder / "value_tables")


def test_a_killed_run_of_grouped_rows_goes_on_from_its_copies(serve: Serve) -> None:
    """After kill -9, `resume` enters each candidate once, and all rows of a candidate share the outcome."""
    served = serve({"kind": "delay", "share": 1, "ms": 300})
    folder = served.door.folder
    served.killed_after(1, *grouped(folder))
    without_its_files(folder)
    again = served("resume", "last", "--json")
    assert sorted(served.accepted) == ["hale.koc@example.com", "irem.tas@example.com"]
    assert (sum(again.counts.values()), again.counts["invalid"]) == (7, 2)
    settled = {"created", "already_exists", "already_imported"}
    assert sum(again.counts.get(kind, 0) for kind in settled) == 5


def test_all_rows_of_a_candidate_are_tried_again(serve: Serve) -> None:
    """`resume` takes the four rows of a candidate whose one request was lost, and sends one request."""
    served = serve({"kind": "reset", "when": "before", "emails": ["hale.koc@example.com"], "operation": "apply"})
    first = served(*grouped(served.door.folder), "--json", "--resend-unconfirmed", "never")
    assert first.counts == {"created": 1, "unconfirmed": 4, "invalid": 2}
    again = served("resume", first.summary["run"], "--json")
    assert (again.counts["created"], again.summary["requests"]["sent"]) == (4, 1)


def test_warnings_about_a_child_file_are_reported(serve: Serve) -> None:
    """Merged cells of a child workbook cause a warning, by `check` and `run`."""
    served = serve()
    folder = served.door.folder
    run = with_children(folder)
    schools = csv.reader((folder / "Candidates_Educational_Details.csv").read_text().splitlines())
    rows = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>" for row in schools
    )
    merged = '<mergeCells count="1"><mergeCell ref="B2:B3"/></mergeCells>'
    (folder / "schools.xlsx").write_bytes(raw_xlsx(rows, after=merged))
    mapping = folder / "zoho_backup.yaml"
    mapping.write_text(mapping.read_text().replace("Candidates_Educational_Details.csv", "schools.xlsx"))
    for command in ("check", "run"):
        warning, *_ = served(command, *run[1:], "--json").summary["warnings"]
        assert warning.startswith("schools.xlsx, Sheet: a range of cells is merged (B2:B3); only the first cell")


def test_a_run_with_child_files_goes_on_and_is_purged(serve: Serve) -> None:
    """`resume` uses the copies of the other files; `purge` removes them."""
    served = serve({"kind": "reset", "when": "before", "emails": ["bora.demir@example.org"], "operation": "apply"})
    folder = served.door.folder
    first = served(*with_children(folder), "--json", "--resend-unconfirmed", "never")
    assert first.counts == {"created": 1, "unconfirmed": 1, "filtered": 1, "invalid": 1}
    without_its_files(folder)
    again = served("resume", first.summary["run"], "--json")
    assert again.counts == {"created": 1, "already_imported": 1, "filtered": 1, "invalid": 1}
    schools = [
        answer["answer"]
        for body in served.sandbox.memory.accepted()
        for answer in body["answers"]
        if answer["job_post_question"].get("question_key") == "education"
    ]
    assert [school.count("school_name") for school in schools] == [2, 1]
    assert served("purge", "--older-than", "0d", "--yes").code == 0
    assert list((folder / "results").glob("2*")) == []
