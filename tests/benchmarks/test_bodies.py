"""What importer and its peers send is the same, so that their times can be compared."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from benchmarks.candidates import write_mapping, write_source
from benchmarks.our_parts import open_source, resolved
from benchmarks.peers.bare_body import bare_body
from benchmarks.peers.bulk_post_body import template, word, write_renamed
from importer.models import Application
from importer.transform import transform_row


def test_the_bare_body_is_ours(tmp_path: Path) -> None:
    """The bare loops send the same body as importer."""
    source = write_source(tmp_path / "a.csv", 40)
    sheet = open_source(source)
    mapping = resolved(write_mapping(tmp_path / "mapping.yaml"), sheet)
    ours = [transform_row(row, mapping) for row in sheet.rows()]
    with source.open(newline="", encoding="utf-8") as file:
        bare = [bare_body(row) for row in csv.DictReader(file)]
    assert [one.payload() for one in ours if isinstance(one, Application)] == [json.loads(body) for body in bare]
    assert all(3000 <= len(body) <= 3100 for body in bare)


def test_the_template_of_bulk_post(tmp_path: Path) -> None:
    """With its placeholders filled in, the body of bulk-post has the same structure and almost the same size."""
    source = write_source(tmp_path / "a.csv", 1)
    with source.open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    with write_renamed(source, tmp_path / "renamed.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == [word(column) for column in row]
    body = template()
    for column, text in row.items():
        body = body.replace("{{" + word(column) + "}}", text)
    sent, bare = json.loads(body), json.loads(bare_body(row))
    assert "{{" not in body
    assert [answer["job_post_question"] for answer in sent["answers"]] == [
        answer["job_post_question"] for answer in bare["answers"]
    ]
    assert abs(len(body) - len(bare_body(row))) < 150
