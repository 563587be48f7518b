"""docs/summary.schema.json describes summary.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from importer.models import Operation, Outcome, OutcomeKind, Stop, Target
from importer.report.write import write_report
from tests.report.building import bad_degree, facts_with, row

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/summary.schema.json").read_text("utf-8"))
POOL = Target(Operation.ADD_TO_POOL, "17")
FACTS = [
    pytest.param({}, id="a run"),
    pytest.param({"dry_run": True, "sandbox": True, "flags": {"--sandbox": "", "--out": "x"}}, id="a check"),
    pytest.param({"target": POOL, "warnings": ("inspect",)}, id="a pool"),
    pytest.param({"finished": False, "exit_code": None, "ended_at": None}, id="killed"),
    pytest.param({"stopped": Stop("service-down", "it is down", "wait"), "continues": "r"}, id="stopped"),
]


@pytest.mark.parametrize("facts", FACTS)
def test_summaries_fit_the_schema(tmp_path: Path, facts: dict[str, Any]) -> None:
    """Every summary fits the schema, which names each of its keys."""
    bad = row(5, "1", "a@example.com", "", "bachelor")
    outcomes = [Outcome(4, OutcomeKind.CREATED, 201, 1), Outcome(5, OutcomeKind.INVALID, problems=(bad_degree(bad),))]
    write_report(tmp_path, facts_with(**facts), [row(4), bad], outcomes)
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(summary)
    assert set(summary) == set(SCHEMA["properties"]) == set(SCHEMA["required"])


def test_the_schema_can_fail(tmp_path: Path) -> None:
    """A key with another name in a part of the summary does not fit."""
    write_report(tmp_path, facts_with(), [row(4)], [Outcome(4, OutcomeKind.CREATED)])
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    summary["requests"]["resent"] = summary["requests"].pop("retried")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(summary)
