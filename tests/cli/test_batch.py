"""One export to many targets with one command: a folder of mapping files."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Served, read_csv
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
RUN = ("run", "export.csv", "--mapping", "all")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example's mappings and export."""
    shutil.copytree(ROOT / "mappings" / "all_job_posts", tmp_path / "all")
    shutil.copy(ROOT / "sample_data" / "all_job_posts" / "export.csv", tmp_path)
    return tmp_path


def summary_of(folder: Path, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results" / run / "summary.json").read_text("utf-8"))
    return found


def test_one_export_goes_to_all_its_targets(serve: Serve, folder: Path) -> None:
    """Each target has its rows and a report of its own; the one over all accounts for every row of the export."""
    served = serve()
    ran = served(*RUN, "--json")
    assert (ran.code, ran.counts) == (4, {"created": 5, "invalid": 1})
    batch = ran.summary["run"]
    assert ran.summary["source"]["rows"] == sum(ran.summary["outcomes"].values()) == 6
    assert ran.summary["target"] == {
        "runs": [
            {"run": f"{batch}.backend_engineer", "job_post": "4f2c9a"},
            {"run": f"{batch}.data_analyst", "job_post": "9b1d07"},
            {"run": f"{batch}.talent_pool", "talent_pool": "17"},
        ]
    }
    counts = {one["run"].partition(".")[2]: summary_of(folder, one["run"]) for one in ran.summary["target"]["runs"]}
    assert {name: one["source"]["rows"] for name, one in counts.items()} == {
        "backend_engineer": 2, "data_analyst": 2, "talent_pool": 1,
    }  # fmt: skip
    assert [body["email"] for body in served.sandbox.memory.accepted("apply", "9b1d07")] == [
        "leyla.su@example.com", "kerem.ay@example.com",
    ]  # fmt: skip
    assert [row["import_row"] for row in read_csv(folder / "results" / batch / "201_created.csv")] == list("23456")


def test_rows_that_no_mapping_takes_are_told(serve: Serve, folder: Path) -> None:
    """A row whose job no route names is no silent loss: it is invalid, with the nearest word."""
    ran = serve()(*RUN, "--json")
    assert [problem["message"] for problem in ran.summary["problems"]] == [
        "export.csv, row 7, column \"Job\": no mapping takes rows with 'Data Analist' here; did you mean "
        "'data analyst'? correct it, or add it under route: of a mapping in all"
    ]


def test_the_mended_rows_and_a_second_run(serve: Serve, folder: Path) -> None:
    """invalid.csv of the batch, mended, goes to the right target; the export run again sends nothing."""
    served = serve()
    first = served(*RUN, "--json").summary
    invalid = folder / "results" / first["run"] / "invalid.csv"
    invalid.write_text(invalid.read_text("utf-8-sig").replace("Data Analist", "Data Analyst"), "utf-8-sig")
    mended = served("run", str(invalid), "--mapping", "all", "--json")
    assert (mended.code, mended.counts) == (0, {"created": 1})
    again = served(*RUN, "--json")
    assert (again.counts, again.summary["requests"]["sent"]) == ({"done_before": 5, "invalid": 1}, 0)


@pytest.mark.parametrize(
    ("fault", "of_its_rows"),
    [
        pytest.param({"every": 2, "operation": "questions"}, {"not_sent": 2}, id="before its first row"),
        pytest.param(
            {"emails": ["leyla.su@example.com"], "operation": "apply"},
            {"failed": 1, "not_sent": 1},
            id="at its first row",
        ),
    ],
)
def test_one_blocked_target_does_not_stop_the_others(
    serve: Serve, folder: Path, fault: dict[str, Any], of_its_rows: dict[str, int]
) -> None:
    """Where a job post is refused, its rows are not sent, the others are, and the run can go on later."""
    served = serve({"kind": "403", **fault})
    ran = served(*RUN, "--json")
    assert (ran.code, ran.counts) == (5, {"created": 3, "invalid": 1, **of_its_rows})
    assert ran.summary["stopped"]["reason"]


def test_a_batch_is_shown_and_reported_again(serve: Serve, folder: Path) -> None:
    """`last` is the batch and not one of its runs; its report can be written again."""
    served = serve()
    batch = served(*RUN, "--json").summary["run"]
    shown = served("show", "last")
    assert shown.out.splitlines()[-3:] == [
        f"job post 4f2c9a: 2 created (importer show {batch}.backend_engineer)",
        f"job post 9b1d07: 2 created (importer show {batch}.data_analyst)",
        f"talent pool 17: 1 created (importer show {batch}.talent_pool)",
    ]
    (folder / "results" / batch / "report.xlsx").unlink()
    assert served("report", batch, "--json").summary["outcomes"]["created"] == 5
    assert (folder / "results" / batch / "report.xlsx").is_file()


def test_checking_a_batch_sends_nothing(serve: Serve, folder: Path) -> None:
    """`check` with a folder makes no POST and tells the same."""
    served = serve()
    checked = served("check", *RUN[1:], "--json")
    assert (checked.code, checked.counts) == (4, {"invalid": 1, "not_sent": 5})
    assert {request.method for request in served.sandbox.requests} == {"GET"}


def test_a_limit_is_no_part_of_a_batch(serve: Serve, folder: Path) -> None:
    """--limit would take rows of the first targets only; --rows says which rows are meant."""
    ran = serve()(*RUN, "--limit", "2")
    assert (ran.code, ran.err.strip().splitlines()[-1]) == (
        2,
        "importer: --limit does not say of which target; take a part of the rows with --rows",
    )
    some = serve()(*RUN, "--rows", "2-3", "--json")
    assert (some.code, some.counts) == (0, {"created": 2})


def test_mistakes_of_all_mappings_are_told_at_once(serve: Serve, folder: Path) -> None:
    """Nothing is sent to any target where a mapping of the folder does not fit."""
    with (folder / "export.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    header[header.index("CV")] = "Resume"
    with (folder / "export.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    served = serve()
    ran = served(*RUN)
    assert (ran.code, ran.err.splitlines()[0]) == (3, "importer: 1 problem to mend first; nothing was sent.")
    assert "all/_shared.yaml:9:7: there is no column 'CV'" in ran.err
    assert {request.method for request in served.sandbox.requests} <= {"GET"}
    assert list((folder / "results").glob("2*")) == []
