"""One export to many job posts with one command: a folder of mapping files, each of which is a run of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from tests.cli.conftest import Ran, Served
from tests.cli.test_corrections import fix
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
RUN = ("run", "export.csv", "--mapping", "all")
TARGETS = ({"job_post": "4f2c9a"}, {"job_post": "9b1d07"}, {"talent_pool": "17"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example's mappings and export."""
    shutil.copytree(ROOT / "mappings" / "all_job_posts", tmp_path / "all")
    shutil.copy(ROOT / "sample_data" / "all_job_posts" / "export.csv", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def summaries(ran: Ran) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


def counts(ran: Ran) -> list[dict[str, int]]:
    return [{kind: count for kind, count in one["outcomes"].items() if count} for one in summaries(ran)]


def test_each_mapping_is_a_run_of_its_own(serve: Serve, folder: Path) -> None:
    """Each report accounts for every row of the file; a row that no mapping takes is told in the first."""
    served = serve()
    ran = served(*RUN, "--json")
    assert [one["target"] for one in summaries(ran)] == [*TARGETS]
    assert (ran.code, counts(ran)) == (
        4, [{"created": 2, "invalid": 1, "filtered": 3}, {"created": 2, "filtered": 4}, {"created": 1, "filtered": 5}],
    )  # fmt: skip
    invalid = [problem for one in summaries(ran) for problem in one["problems"] if problem["outcome"] == "invalid"]
    assert [problem["message"] for problem in invalid] == [
        "export.csv, row 7, column \"Job\": no mapping takes rows with 'Data Analist' in this column; did you mean "
        "'Data Analyst'? correct it in your own file, or add it under route: in one of them; then run the folder again"
    ]
    assert [body["email"] for body in served.sandbox.memory.accepted("apply", "9b1d07")] == [
        "leyla.su@example.com", "kerem.ay@example.com",
    ]  # fmt: skip
    change(folder / "export.csv", "Data Analist", "Data Analyst")
    again = served(*RUN, "--json")
    assert (again.code, sum(one["requests"]["sent"] for one in summaries(again))) == (0, 1)
    status = json.loads(served("status", "export.csv", "--json").out)
    assert [one["target"] for one in status["targets"]] == [*TARGETS]


def test_what_is_printed_fits_a_screen(serve: Serve, folder: Path) -> None:
    """A sentence for each target, and the command that shows its run."""
    ran = serve()(*RUN)
    assert [line.rpartition(" ")[0] if "show" in line else line for line in ran.out.splitlines()] == [
        "job post 4f2c9a: Finished: 2 of 6 rows imported, 1 to fix, 3 filtered", "  importer show",
        "job post 9b1d07: Finished: 2 of 6 rows imported, 4 filtered", "  importer show",
        "talent pool 17: Finished: 1 of 6 rows imported, 5 filtered", "  importer show",
    ]  # fmt: skip


def test_a_check_sends_nothing(serve: Serve, folder: Path) -> None:
    """It reports for each mapping what its run would do."""
    served = serve()
    checked = served("check", *RUN[1:], "--json")
    assert (checked.code, [one["outcomes"]["not_sent"] for one in summaries(checked)]) == (4, [2, 2, 1])
    assert {request.method for request in served.sandbox.requests} == {"GET"}


def test_a_row_that_no_mapping_takes_is_fixed_in_the_report(serve: Serve, folder: Path) -> None:
    """To the value of its mapping it is sent; to that of another one it is not, and does not get lost."""
    served = serve()
    run = summaries(served(*RUN, "--json"))[0]["run"]
    report = folder / "results" / run / "report.xlsx"

    def fixed(text: str, *mapping: str) -> Ran:
        book = load_workbook(report)
        (cell,) = [cell for row in book["invalid"].iter_rows(min_row=2) for cell in row if str(cell.value) in OLD]
        cell.value = text
        book.save(report)
        return served("run", f"results/{run}/report.xlsx", "--json", *mapping)

    other = fixed("Data Analyst")
    assert (other.code, other.counts) == (4, {"already_imported": 2, "invalid": 1, "filtered": 3})
    assert "this row would be of another mapping of the folder" in str(other.summary["problems"])
    refused = fixed("BE", "--mapping", "all")
    assert (refused.code, refused.err) == (
        2, "importer: all is a folder: leave out --mapping: the report is of one of its mappings\n",
    )  # fmt: skip
    assert fixed("BE").counts == {"created": 1, "already_imported": 2, "filtered": 3}
    assert served(*RUN, "--json").code == 0


OLD = ("Data Analist", "Data Analyst", "BE")


def test_a_candidate_with_a_row_of_no_mapping_is_not_sent_without_it(serve: Serve, folder: Path) -> None:
    """One row of the candidate has a typing mistake in its job: the others would be a part of the candidate."""
    change(folder / "all" / "_shared.yaml", "{header_row: 1}", "{header_row: 1, group_by: E-mail}")
    export = folder / "export.csv"
    export.write_text(export.read_text("utf-8") + "Data Analist,,leyla.su@example.com,,,,\n", "utf-8")
    served = serve()
    ran = served(*RUN, "--json")
    assert (ran.code, [one.get("created", 0) for one in counts(ran)]) == (4, [2, 1, 1])
    assert "leyla.su@example.com" not in served.accepted
    told = [one["message"] for run in summaries(ran) for one in run["problems"] if one["code"] == "group-incomplete"]
    assert [one[:83] for one in told] == [
        'export.csv, row 3, column "E-mail": row 8 of the same candidate has a value that no'
    ]
    change(export, "Data Analist,,", "Data Analyst,,")
    assert [one.get("created", 0) for one in counts(served(*RUN, "--json"))] == [0, 2, 0]


def test_every_row_of_a_batch_has_its_key(serve: Serve, folder: Path) -> None:
    """A row that continues the one above has no job of its own: it would go nowhere, and its candidate without it."""
    shared = folder / "all" / "_shared.yaml"
    key = "{header_row: 1, group_by: {column: E-mail, blank: continues}}"
    shared.write_text(shared.read_text("utf-8").replace("{header_row: 1}", key), "utf-8")
    refused = serve()(*RUN)
    assert (refused.code, "with route:, every row needs the key of its candidate" in refused.err) == (3, True)


@pytest.mark.parametrize(
    ("fault", "outcomes"),
    [
        pytest.param({"first": 1, "operation": "questions"}, None, id="before its first row"),
        pytest.param(
            {"emails": ["leyla.su@example.com"], "operation": "apply"},
            {"failed": 1, "not_sent": 1, "filtered": 4},
            id="at its first row",
        ),
    ],
)
def test_a_target_that_is_refused_does_not_stop_the_others(
    serve: Serve, folder: Path, fault: dict[str, Any], outcomes: dict[str, int] | None
) -> None:
    """The exit code says that it stopped early; running it again imports the rest."""
    served = serve({"kind": "403", **fault})
    ran = served(*RUN, "--json")
    assert (ran.code, len(served.accepted)) == (5, 3)
    assert [one for one in counts(ran) if "created" not in one] == ([outcomes] if outcomes else [])
    assert "403" in ran.err + ran.out
    again = served(*RUN, "--json")
    assert (again.code, len(served.accepted)) == (4, 5)


def test_a_mapping_that_does_not_fit_does_not_stop_the_others(serve: Serve, folder: Path) -> None:
    """Its problems are told; if none of them fits, nothing was sent."""
    served = serve()
    change(folder / "all" / "data_analyst.yaml", "answers:\n", "answers:\n  nickname: Name\n")
    ran = served(*RUN)
    assert (ran.code, len(served.accepted)) == (5, 3)
    assert "the job post has no question with the key 'nickname'" in ran.err
    change(folder / "export.csv", ",CV,", ",Document,")
    ran = served(*RUN)
    assert (ran.code, ran.err.count("found; nothing was sent with it."), len(served.accepted)) == (3, 3, 3)


def test_a_broken_mapping_is_told_before_the_first_run(serve: Serve, folder: Path) -> None:
    """All errors of all files at once, and nothing is sent."""
    change(folder / "all" / "data_analyst.yaml", "route:", "rout:")
    change(folder / "all" / "talent_pool.yaml", "target:", "targets:")
    served = serve()
    ran = served(*RUN)
    assert (ran.code, served.accepted) == (3, [])
    assert ("data_analyst.yaml" in ran.err, "talent_pool.yaml" in ran.err) == (True, True)


def test_a_killed_run_is_completed_by_the_same_command(serve: Serve, folder: Path) -> None:
    """Nobody is lost or entered twice; the report of the killed run is completed first."""
    served = serve({"kind": "delay", "ms": 20, "share": 1.0, "times": 9999})
    header, *rows = (folder / "export.csv").read_text("utf-8").splitlines()
    many = [row.replace("@example.com", f"{number}@example.com") for number in range(30) for row in rows[:4]]
    (folder / "export.csv").write_text("\n".join((header, *many)) + "\n", "utf-8")
    served.killed_after(20, *RUN)
    again = served(*RUN, "--json")
    assert (again.code, "was killed. Its report is now complete" in " ".join(again.err.split())) == (0, True)
    assert len(served.accepted) == len(many)


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


def test_what_comes_next_is_for_the_folder(serve: Serve, folder: Path) -> None:
    """The command of one mapping alone would leave the rows of the others out, and say that all is complete."""
    served = serve()
    run = summaries(served(*RUN, "--json"))[0]["run"]
    again = "importer run export.csv --mapping all"
    for command in (("show", run), ("status", "export.csv")):
        assert again in served(*command).out
    resumed = served("resume", run)
    assert (resumed.code, " ".join(resumed.err.split()).endswith(f"completed rows are skipped: {again}")) == (2, True)


def test_a_mapping_that_no_run_has_begun_with_is_told(serve: Serve, folder: Path) -> None:
    """Its rows are only filtered in the reports of the others, which would be all complete."""
    served = serve()
    change(folder / "all" / "data_analyst.yaml", "answers:\n", "answers:\n  nickname: Name\n")
    change(folder / "export.csv", "Python;SQL,Senior", "Python;SQL,Chef")
    served(*RUN)
    status = served("status", "export.csv")
    assert (status.code, status.out.splitlines()[-2:]) == (
        4,
        [
            "No run has begun with all/data_analyst.yaml. Import export.csv with the folder again:",
            "  importer run export.csv --mapping all",
        ],
    )
    report = next((folder / "results").glob("*/invalid.csv")).parent / "report.xlsx"
    fix(report, {"Level": "Senior"})
    assert served("run", str(report), "--mapping", "all/backend_engineer.yaml", "--json").counts["created"] == 1
    assert served("status", "export.csv").out.splitlines()[-2:] == status.out.splitlines()[-2:]
    change(folder / "all" / "data_analyst.yaml", "  nickname: Name\n", "")
    change(folder / "export.csv", "Data Analist", "Data Analyst")
    assert served(*RUN, "--json").code == 0
    assert served("status", "export.csv").code == 0


def test_the_same_person_in_a_row_of_no_mapping(serve: Serve, folder: Path) -> None:
    """That row may be for another target, so the row that is for this one is sent."""
    header, row, *_ = (folder / "export.csv").read_text("utf-8").splitlines()
    other = row.replace("Backend Engineer", "Data Analist")
    (folder / "export.csv").write_text("\n".join((header, other, row)) + "\n", "utf-8")
    ran = serve()(*RUN, "--json")
    assert counts(ran)[0] == {"created": 1, "invalid": 1}


def test_other_ways_of_choosing_rows_are_refused(serve: Serve, folder: Path) -> None:
    """With where: in one mapping, rows would be left out by all of them."""
    served = serve()
    refused = served(*RUN, "--part", "1/2")
    assert (refused.code, "cannot be used with a folder of mappings" in " ".join(refused.err.split())) == (2, True)
    change(folder / "all" / "backend_engineer.yaml", "route:", "source: {where: {column: Level, is: Senior}}\nroute:")
    refused = served(*RUN)
    assert (refused.code, "where: differs from where: in backend_engineer.yaml" in refused.err) == (3, True)


def test_a_quiet_job_is_one_job(serve: Serve, folder: Path) -> None:
    """Its state is that of its worst run, whatever the last one was; without a problem, nothing is printed."""
    served, metrics = serve(), folder / "metrics"
    metrics.mkdir()

    def state() -> tuple[int, list[str]]:
        ran = served(*RUN, "--job", "nightly", "--quiet", IMPORTER_METRICS_FOLDER=str(metrics))
        (file,) = metrics.iterdir()
        code = next(line for line in file.read_text().splitlines() if line.startswith("importer_last_run_exit_code"))
        return ran.code, [code.rpartition(" ")[2], ran.out + ran.err]

    code, (told, printed) = state()
    assert (code, told, "2 of 6 rows imported, 1 to fix" in printed) == (4, "4.0", True)
    change(folder / "export.csv", "Data Analist", "Data Analyst")
    assert state() == (0, ["0.0", ""])
    change(folder / "all" / "data_analyst.yaml", "route:", "rout:")
    assert state()[1][0] == "3.0"


def test_documents_of_a_folder_are_one_list(serve: Serve, folder: Path) -> None:
    """The list beside the file has those of all mappings."""
    change(folder / "all" / "_shared.yaml", "cv: CV", "cv: {column: CV, folder: cvs}")
    export, cvs = folder / "export.csv", folder / "cvs"
    cvs.mkdir()
    lines = export.read_text().splitlines()
    for number, line in enumerate(lines[1:5], start=1):
        cells = line.split(",")
        (cvs / f"{number}.pdf").write_bytes(b"%PDF-1.4\n%" + str(number).encode() + b"\n%%EOF\n")
        lines[number] = ",".join([*cells[:4], f"{number}.pdf", *cells[5:]])
    export.write_text("\n".join(lines) + "\n")
    ran = serve()("documents", "list", "export.csv", "--mapping", "all")
    listed = (folder / "documents.csv").read_text("utf-8-sig").splitlines()
    assert (ran.code, ran.out.startswith("4 documents of rows"), len(listed)) == (0, True, 5)
