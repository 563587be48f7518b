"""One export to many targets with one command: a folder of mapping files."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
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


def test_the_page_of_the_whole_leads_to_those_of_its_targets(serve: Serve, folder: Path) -> None:
    """It links each target's page, also when it is written again."""
    (folder / "all" / "data_analyst.yaml").rename(folder / "all" / "data & analysis #1.yaml")
    served = serve()
    results = folder / "results" / served(*RUN, "--json").summary["run"]
    for command in (("show", results.name, "--json"), ("report", results.name, "--json")):
        served(*command)
        page = (results / "report.html").read_text("utf-8")
        links = dict(re.findall(r'<a href="(\.\./[^"]+)">([^<]+)</a>', page))
        assert list(links.values()) == ["job post 4f2c9a", "job post 9b1d07", "talent pool 17"]
        assert all((results / unquote(link)).is_file() for link in links)
        assert served("report", results.name, "--no-personal-data").code == 0
    assert 'href="../' not in (results / "report.html").read_text("utf-8")


def test_a_target_that_cannot_start_does_not_block_the_others(serve: Serve, folder: Path) -> None:
    """Where the second target cannot have its lock, what was sent to the first is reported, and the exit code is 5."""
    served = serve()
    scope = Scope(served.sandbox.base_url, Target(Operation.APPLY, "9b1d07"))
    with open_ledger(folder / "results" / "ledger.sqlite") as ledger, ledger.lock_target(scope):
        (lock,) = (folder / "results" / ".importer").glob("*.lock")
    lock.unlink()
    lock.mkdir()
    ran = served(*RUN, "--json")
    assert (ran.code, ran.counts) == (5, {"created": 3, "invalid": 1, "not_sent": 2})
    assert f"importer: results/.importer/{lock.name}: it cannot be written (Is a directory)" in ran.err
    assert "nothing was sent." not in ran.err


def test_the_report_of_a_killed_batch_is_correct(serve: Serve, folder: Path) -> None:
    """The runs that had started are finalized first; the rows of the others are not_sent."""
    served = serve({"kind": "delay", "ms": 20, "share": 1.0, "times": 9999})
    header, *rows = (folder / "export.csv").read_text("utf-8").splitlines()
    many = [row.replace("@example.com", f"{number}@example.com") for number in range(30) for row in rows[:4]]
    (folder / "export.csv").write_text("\n".join((header, *many)) + "\n", "utf-8")
    served.killed_after(20, *RUN)
    report = served("report", "last", "--json")
    assert report.code == 0
    assert sum(report.counts.values()) == len(many)
    assert set(report.counts) == {"created", "unconfirmed", "not_sent"}
    assert report.counts["created"] <= len(served.accepted) <= len(many) - report.counts["not_sent"]
    assert served("resume", "last", "--json").code == 0


def test_rows_without_a_matching_route_are_reported(serve: Serve, folder: Path) -> None:
    """A row whose job is in no route is invalid, with the closest word as a suggestion."""
    ran = serve()(*RUN, "--json")
    assert [problem["message"] for problem in ran.summary["problems"]] == [
        "export.csv, row 7, column \"Job\": no mapping takes rows with 'Data Analist' in this column; did you mean "
        "'Data Analyst'? correct it, or add it under route: in a mapping in all"
    ]


def test_a_candidate_with_a_row_of_no_target_is_not_sent_without_it(serve: Serve, folder: Path) -> None:
    """One row of the candidate has a typing mistake in its job: the others would be a part of the candidate."""
    shared = folder / "all" / "_shared.yaml"
    text = shared.read_text("utf-8")
    shared.write_text(text.replace("{header_row: 1}", "{header_row: 1, group_by: E-mail}"), "utf-8")
    export = folder / "export.csv"
    export.write_text(export.read_text("utf-8") + "Data Analist,,leyla.su@example.com,,,,\n", "utf-8")
    served = serve()
    ran = served(*RUN, "--json")
    assert (ran.code, ran.counts) == (4, {"created": 4, "invalid": 3})
    assert "leyla.su@example.com" not in served.accepted
    (told,) = [one["message"] for one in ran.summary["problems"] if one["code"] == "group-incomplete"]
    assert told.startswith('export.csv, row 3, column "E-mail": row 8 of the same candidate has a value that no')
    export.write_text(export.read_text("utf-8").replace("Data Analist,,", "Data Analyst,,"), "utf-8")
    assert served(*RUN, "--json").counts == {"created": 2, "already_imported": 4, "invalid": 1}


def test_every_row_of_a_batch_has_its_key(serve: Serve, folder: Path) -> None:
    """A row that continues the one above has no job of its own: it would go nowhere, and its candidate without it."""
    shared = folder / "all" / "_shared.yaml"
    key = "{header_row: 1, group_by: {column: E-mail, blank: continues}}"
    shared.write_text(shared.read_text("utf-8").replace("{header_row: 1}", key), "utf-8")
    refused = serve()(*RUN)
    assert (refused.code, "with route:, every row needs the key of its candidate" in refused.err) == (3, True)


def test_the_fixed_rows_and_a_second_run(serve: Serve, folder: Path) -> None:
    """The fixed invalid.csv of the batch goes to the right target; running the export again sends nothing."""
    served = serve()
    first = served(*RUN, "--json").summary
    invalid = folder / "results" / first["run"] / "invalid.csv"
    invalid.write_text(invalid.read_text("utf-8-sig").replace("Data Analist", "Data Analyst"), "utf-8-sig")
    fixed = served("run", str(invalid), "--mapping", "all", "--json")
    assert (fixed.code, fixed.counts) == (0, {"created": 1, "already_imported": 5})
    again = served(*RUN, "--json")
    assert (again.code, again.counts, again.summary["requests"]["sent"]) == (0, {"already_imported": 6}, 0)


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
    """If a job post is refused, its rows are not sent, the others are, and the run can be resumed later."""
    served = serve({"kind": "403", **fault})
    ran = served(*RUN, "--json")
    assert (ran.code, ran.counts) == (5, {"created": 3, "invalid": 1, **of_its_rows})
    assert ran.summary["stopped"]["reason"]


def test_a_batch_is_shown_and_reported_again(serve: Serve, folder: Path) -> None:
    """`last` is the batch and not one of its runs; its report can be written again."""
    served = serve()
    batch = served(*RUN, "--json").summary["run"]
    shown = served("show", "last")
    lines = shown.out.splitlines()
    first = lines.index(f"job post 4f2c9a: 2 created (importer show {batch}.backend_engineer)")
    assert lines[first : first + 3] == [
        f"job post 4f2c9a: 2 created (importer show {batch}.backend_engineer)",
        f"job post 9b1d07: 2 created (importer show {batch}.data_analyst)",
        f"talent pool 17: 1 created (importer show {batch}.talent_pool)",
    ]
    (folder / "results" / batch / "report.xlsx").unlink()
    assert served("report", batch, "--json").summary["outcomes"]["created"] == 5
    assert (folder / "results" / batch / "report.xlsx").is_file()


def test_checking_a_batch_sends_nothing(serve: Serve, folder: Path) -> None:
    """`check` with a folder sends no POST and reports the same."""
    served = serve()
    checked = served("check", *RUN[1:], "--json")
    assert (checked.code, checked.counts) == (4, {"invalid": 1, "not_sent": 5})
    assert {request.method for request in served.sandbox.requests} == {"GET"}


def test_a_limit_is_no_part_of_a_batch(serve: Serve, folder: Path) -> None:
    """--limit would only select rows of the first targets; --rows is unambiguous."""
    ran = serve()(*RUN, "--limit", "2")
    assert (ran.code, ran.err.strip().splitlines()[-1]) == (
        2,
        "importer: --limit cannot be used with several targets; use --rows",
    )
    some = serve()(*RUN, "--rows", "2-3", "--json")
    assert (some.code, some.counts) == (0, {"created": 2})


def test_problems_of_all_mappings_are_reported_at_once(serve: Serve, folder: Path) -> None:
    """Nothing is sent to any target where a mapping of the folder does not fit."""
    with (folder / "export.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    header[header.index("CV")] = "Resume"
    with (folder / "export.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    served = serve()
    ran = served(*RUN)
    assert (ran.code, ran.err.splitlines()[0]) == (3, "importer: 1 problem found; nothing was sent.")
    assert "all/_shared.yaml:9:7: the column 'CV' does not exist" in ran.err
    assert {request.method for request in served.sandbox.requests} <= {"GET"}
    assert list((folder / "results").glob("2*")) == []


# --- going on with a batch ------------------------------------------------------------------------


def test_runs_lists_a_batch_above_its_runs(serve: Serve, folder: Path) -> None:
    """The batch comes first, with all that became of its rows, then the runs of its targets."""
    served = serve()
    batch = served(*RUN, "--json").summary["run"]
    _, *lines = served("runs").out.splitlines()
    assert [line.split("  ")[-1].split(":")[0] for line in lines] == [
        batch, f"{batch}.talent_pool", f"{batch}.data_analyst", f"{batch}.backend_engineer",
    ]  # fmt: skip
    assert lines[0].split()[4:8] == ["6", "5", "-", "1"]


def test_a_stopped_batch_is_resumed_from_its_own_copies(serve: Serve, folder: Path) -> None:
    """`resume` of a batch needs neither the export nor the mappings: what was not sent is, and nothing twice."""
    served = serve({"kind": "403", "emails": ["leyla.su@example.com"], "operation": "apply", "times": 1})
    first = served(*RUN, "--json")
    assert (first.code, first.counts["created"]) == (5, 3)
    (folder / "export.csv").unlink()
    shutil.rmtree(folder / "all")
    again = served("resume", first.summary["run"], "--json")
    assert (again.code, again.counts) == (4, {"created": 2, "already_imported": 3, "invalid": 1})
    assert again.summary["source"]["file"] == "export.csv"
    assert len(served.sandbox.memory.accepted()) == 5


def test_a_target_that_was_blocked_before_its_run_is_resumed_too(serve: Serve, folder: Path) -> None:
    """The copy of a mapping is kept although its job post did not give its questions."""
    served = serve({"kind": "403", "first": 1, "operation": "questions"})
    first = served(*RUN, "--json")
    assert first.counts["not_sent"] == 2
    status = json.loads(served("status", "export.csv", "--json").out)  # only the invalid row has no target
    assert sum(one["outcomes"]["not_sent"] for one in status["targets"]) == 2
    assert len(status["rows_without_target"]) == 1
    shutil.rmtree(folder / "all")
    again = served("resume", "last", "--json")
    assert (again.code, again.counts) == (4, {"created": 2, "already_imported": 3, "invalid": 1})


def test_a_check_of_a_batch_cannot_be_resumed(serve: Serve, folder: Path) -> None:
    """What sent nothing has nothing to go on with."""
    served = serve()
    batch = served("check", *RUN[1:], "--json").summary["run"]
    refused = served("resume", batch)
    assert (refused.code, refused.err) == (
        2, f"importer: {batch} was only a check and sent nothing; use: importer run export.csv --mapping all\n",
    )  # fmt: skip


def test_a_batch_is_purged_with_its_copies(serve: Serve, folder: Path) -> None:
    """Nothing of the export stays in the results folder; who was entered stays known."""
    served = serve()
    batch = served(*RUN, "--json").summary["run"]
    assert served("purge", "--older-than", "0d", "--yes").code == 0
    assert list((folder / "results").glob(f"{batch}*")) == []
    assert served(*RUN, "--json").counts == {"already_imported": 5, "invalid": 1}


def test_a_folder_of_mappings_is_checked_as_one(serve: Serve, folder: Path) -> None:
    """`mapping check` checks every mapping of a folder against its questions, and reports all problems at once."""
    served = serve()
    checked = served("mapping", "check", "all", "export.csv")
    assert (checked.code, [line for line in checked.out.splitlines() if " fits " in line]) == (
        0,
        [
            f'all/{name}.yaml fits {target} and export.csv (CSV, UTF-8, delimiter ",", header in row 1, 7 columns).'
            for name, target in (
                ("backend_engineer", "job post 4f2c9a"),
                ("data_analyst", "job post 9b1d07"),
                ("talent_pool", "talent pool 17"),
            )
        ],
    )
    for name in ("backend_engineer", "data_analyst"):
        path = folder / "all" / f"{name}.yaml"
        path.write_text(path.read_text("utf-8").replace("answers:\n", "answers:\n  nickname: Name\n"), "utf-8")
    refused = served("mapping", "check", "all", "export.csv")
    assert refused.code == 3
    assert refused.err.count("the job post has no question with the key 'nickname'") == 2


def test_a_row_of_a_batch_is_resolved_by_the_batch(serve: Serve, folder: Path) -> None:
    """The user need not know the target of a row; an unknown row is reported."""
    served = serve({"kind": "hang_after", "emails": ["leyla.su@example.com"], "operation": "apply", "times": 99})
    command = (*RUN, "--resend-unconfirmed", "never", "--json")
    batch = served(*command, IMPORTER_READ_TIMEOUT="0.5").summary["run"]
    unconfirmed = read_csv(folder / "results" / batch / "unconfirmed.csv")[0]["import_row"]
    assert served("resolve", batch, unconfirmed, "--created").code == 0
    assert served("show", batch, "--json").counts["created"] == 5  # also in the report of the whole run
    missing = served("resolve", batch, "999", "--created")
    assert (missing.code, missing.err) == (2, f"importer: no target of run {batch} has an outcome for row 999\n")


def test_the_status_of_a_batch_accounts_for_every_row(serve: Serve, folder: Path) -> None:
    """Each target has its own rows, and a row that no mapping takes is listed until its correction was imported."""
    served = serve()
    batch = served(*RUN, "--json").summary["run"]
    shown = served("status", "export.csv")
    assert shown.code == 4
    assert [line for line in shown.out.splitlines() if line.endswith(" created")] == [
        "       2 created", "       2 created", "       1 created",
    ]  # fmt: skip
    (invalid,) = read_csv(folder / "results" / batch / "invalid.csv")
    assert shown.out.splitlines()[-1] == f"1 without a target, as no mapping takes them: row {invalid['import_row']}"
    printed = json.loads(served("status", "export.csv", "--json").out)
    assert printed["rows_without_target"] == [int(invalid["import_row"])]
    results = folder / "results" / batch / "invalid.csv"
    results.write_text(results.read_text("utf-8-sig").replace("Data Analist,", "Data Analyst,", 1), "utf-8")
    assert served("run", str(results), *RUN[2:], "--json").counts == {"created": 1, "already_imported": 5}
    done = served("status", "export.csv")
    assert (done.code, done.out.count("No action needed")) == (0, 3)
