"""Exports of other shapes than the samples: the proposed mapping, taken as it is, sends nothing that is not true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Served, front_door, serve
from tests.exports.exports import EXPORTS, JOB_POST, Export, questions

__all__ = ["front_door", "serve"]

_PLACED = 0.97  # of the rows without a fault


@pytest.mark.parametrize("name", EXPORTS)
def test_a_proposal_as_it_is_sends_nothing_false(name: str, serve: Callable[..., Served], tmp_path: Path) -> None:
    """Every value that arrives is the true one, though no line was reviewed; and no good row is lost."""
    export = EXPORTS[name](tmp_path)
    (tmp_path / "q.json").write_text(questions(), encoding="utf-8")
    served = serve(questions=tmp_path / "q.json")
    served("mapping", "new", export.file, "--job-post", JOB_POST, "--to", "m.yaml", *export.options)
    _complete(tmp_path / "m.yaml", export)
    ran = served("run", export.file, "--mapping", "m.yaml", "--json", "--out", "out", "--yes")
    bodies = list(served.sandbox.memory.accepted())
    assert [false for body in bodies for false in _false(body, export.truth.get(body["email"]))] == [], ran.err
    good = len(export.truth) - export.faulty
    assert good * _PLACED <= len(bodies) <= good


def _complete(mapping: Path, export: Export) -> None:
    """Write what is in no file, and remove the marks: the service of the test is not the sandbox of the command."""
    text = mapping.read_text(encoding="utf-8").replace("please check", "checked")
    for key, value in export.complete.items():
        text = re.sub(rf"^  # {key}: \.\.\..*$", f"  {key}: {value}", text, flags=re.MULTILINE)
    mapping.write_text(text, encoding="utf-8")


def _false(body: dict[str, Any], truth: dict[str, Any] | None) -> Iterator[str]:
    """The values of a body that are not the true ones. What is not sent is not false."""
    if truth is None:
        yield f"{body['email']} is no candidate"
        return
    sent = {name: body[name] for name in ("first_name", "last_name", *({"cv"} & truth.keys()))}
    sent |= {one["job_post_question"]["question_key"]: one["answer"] for one in body["answers"]}
    for name, text in sent.items():
        expected = truth.get(name)
        found = json.loads(text) if isinstance(expected, list) else text
        if not isinstance(expected, list) or not expected or isinstance(expected[0], str):
            pairs = [] if found == expected else [(name, found, expected)]
        elif len(found) != len(expected):
            pairs = [(name, found, expected)]
        else:
            pairs = [
                (f"{name}.{field}", value, other.get(field))
                for one, other in zip(found, expected, strict=True)
                for field, value in one.items()
                if value != other.get(field)
            ]
        yield from (f"{body['email']}: {place} is {found!r} and not {true!r}" for place, found, true in pairs)
