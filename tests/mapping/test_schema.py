"""The JSON Schema for editors agrees with the reader."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from importer.mapping import read_mapping
from importer.mapping.schema import generated_schema, schema_text
from importer.problems import UnusableInput
from tests.mapping.json_schema import Validator
from tests.mapping.mapping_files import HEAD, reading_problems, write

# A file whose name begins with _ is a shared file; an editor may report missing keys in it.
MAPPINGS = [
    path for path in sorted((Path(__file__).parents[2] / "mappings").rglob("*.yaml")) if not path.name.startswith("_")
]
SCHEMA = json.loads(schema_text())


def as_an_editor_reads(path: Path) -> Any:
    """The file as YAML 1.2 values: numbers and booleans are converted, dates stay texts."""
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(path.read_text("utf-8-sig")), default=str))


def test_the_shipped_schema_is_up_to_date() -> None:
    """The schema is generated from the models: after a change, run `python -m importer.mapping.schema`."""
    assert json.loads(generated_schema()) == SCHEMA


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.name)
def test_the_shipped_mappings_name_the_schema_and_are_valid(path: Path) -> None:
    """An editor that opens an example finds the schema and shows no problems."""
    named = re.search(r"^# yaml-language-server: \$schema=(.+)$", path.read_text("utf-8"), re.MULTILINE)
    assert named is not None
    assert json.loads((path.parent / named.group(1)).read_text("utf-8")) == SCHEMA
    assert Validator(SCHEMA).accepts(as_an_editor_reads(path))


# Sections: the text around their keys, and the model.
PLACES = [
    pytest.param(HEAD + "%s", None, id="top"),
    pytest.param(HEAD + "source: {%s}", "Source", id="source"),
    pytest.param(HEAD + "source: {where: {%s}}", "Filter", id="filter"),
    pytest.param(HEAD + "source: {group_by: {%s}}", "GroupBy", id="group by"),
    pytest.param(HEAD + "defaults: {%s}", "Defaults", id="defaults"),
    pytest.param(HEAD + "defaults: {names: {%s}}", "NameRule", id="names"),
    pytest.param(HEAD + "answers: {q: {%s}}", "AnswerValue", id="value"),
    pytest.param(HEAD + "answers: {q: {education: {end_date: {%s}}}}", "EndValue", id="end"),
    pytest.param(HEAD + "answers: {q: {education: {%s}}}", "Education", id="education"),
    pytest.param(HEAD + "answers: {q: {experience: {%s}}}", "Experience", id="experience"),
    pytest.param(HEAD + "answers: {q: {experience: {sheet: {%s}}}}", "EntrySheet", id="sheet"),
    pytest.param(HEAD + "answers: {q: {experience: {file: {%s}}}}", "EntryFile", id="file"),
    pytest.param(HEAD + "answers: {q: {column: A, sheet: {%s}}}", "ChildSheet", id="lookup in a sheet"),
    pytest.param(HEAD + "answers: {q: {column: A, file: {%s}}}", "ChildFile", id="lookup in a file"),
    pytest.param(HEAD.replace("cv: CV", "cv: {%s}"), "ValueSpec", id="candidate"),
    pytest.param(HEAD + "answers: {q: {experience: {company_name: C}, %s}}", "ExperienceAnswer", id="entries"),
]


@pytest.mark.parametrize(("around", "kept"), PLACES)
def test_reader_and_schema_know_the_same_keys(around: str, kept: str | None) -> None:
    """An editor offers the same keys that the message for an unknown key lists."""
    section = SCHEMA["$defs"][kept] if kept else SCHEMA
    keys = section["properties"] if "properties" in section else section["anyOf"][1]["properties"]
    message = next(
        message for message in reading_problems(around % "zzzz: 1") if "'zzzz' is an unknown key in" in message
    )
    assert not message.endswith("..."), "the reader lists only some of its keys; it must list all"
    assert set(keys) == set(message.partition("use one of ")[2].split(", "))


SOUND = [
    pytest.param("", id="minimal"),
    pytest.param("source: {sheet: 1, header_row: 3, encoding: utf-8, delimiter: tab, missing: [n/a, 0]}", id="source"),
    pytest.param("source: {header_rows: 2, skip_rows: [2, 4-6], stop_at: Total, hidden_rows: skip}", id="source rows"),
    pytest.param("source: {where: {column: A, is_not: [x, 1]}}", id="where"),
    pytest.param("defaults: {dates: '%d.%m.%Y', decimal: ',', thousands: ' ', region: TR, yes: [J]}", id="defaults"),
    pytest.param("defaults: {missing_day: last, unused_columns: error, duplicates: error}", id="more defaults"),
    pytest.param("defaults: {optional: leave_out}\nanswers: {q: {column: A, optional: error}}", id="optional"),
    pytest.param("defaults: {currency: EUR}\nanswers: {q: {column: A, currency: [TL, '₺']}}", id="currency"),
    pytest.param("answers: {q: {optional: leave_out, education: {school_name: S}}}", id="optional entries"),
    pytest.param("answers: {q: A, 'text: What?': {column: [A, B], default: 0}, 'id: 7': {value: true}}", id="answers"),
    pytest.param("answers: {q: {join: [A, B], with: ''}}", id="join"),
    pytest.param("answers: {q: {column: A, split: ';', values: {a: 1, 2: b}, otherwise: keep}}", id="table"),
    pytest.param("answers: {q: {column: A, values: {a: b}, otherwise: {value: c}}}", id="otherwise with a value"),
    pytest.param("answers: {q: {education: {repeat: '{n}', school_name: 'S {n}', degree: 'D {n}'}}}", id="groups"),
    pytest.param(
        "answers: {q: {experience: {repeat: {first: unnumbered}, company_name: 'C{n}', "
        "end_date: {column: 'E{n}', present: [now]}}}}",
        id="first unnumbered",
    ),
    pytest.param(
        "answers: {q: {column: A, pattern: '(?P<a>.)(?P<b>.)', group: a, values: {}, part: last}}", id="pattern"
    ),
    pytest.param("answers: {q: {column: A, split: ';', take: first_valid, names: {surname: capitals}}}", id="take"),
    pytest.param("defaults: {dates: [excel, '%d %B %y'], pivot: 1950, duplicates: first}", id="dates"),
    pytest.param("source: {group_by: {column: A, blank: continues, main: {column: B, is: x}}}", id="group_by"),
    pytest.param("answers: {q: {experience: {rows: all, order: newest_first, company_name: C}}}", id="rows"),
    pytest.param("answers: {q: {experience: {sheet: {name: J, key: A, equals: B}, company_name: C}}}", id="sheet"),
    pytest.param(
        "answers: {q: {experience: {file: {name: J, key: A, equals: B, sheet: 1}, company_name: C}}}", id="file"
    ),
    pytest.param(
        "answers: {q: {experience: {cell: {column: A, split: newline, pattern: '(?P<a>.+)'}, company_name: a}}}",
        id="cell",
    ),
    pytest.param("answers: {q: {experience: {json: A, company_name: c}}}", id="json"),
    pytest.param(
        "answers: {q: {order: newest_first, experience: [{company_name: C}, {json: A, company_name: c}]}}", id="sources"
    ),
    pytest.param("answers: {q: {column: A, file: {name: J, key: A, equals: B, sheet: 1}}}", id="lookup"),
    pytest.param("answers: {q: {experience: {lists: {split: ',', numbered: true}, company_name: c}}}", id="lists"),
    pytest.param("answers: {q: {column: A, before: x, after: y}}", id="before and after"),
    pytest.param("answers: {q: {column: A, split: newline, take: first}}", id="newline"),
    pytest.param("route: {column: Job, is: [a, b]}", id="route"),
]


@pytest.mark.parametrize("more", SOUND)
def test_the_schema_accepts_what_the_reader_accepts(more: str) -> None:
    """An editor shows no problems in a file that the importer accepts."""
    path = write(HEAD + more)
    read_mapping(path)
    assert Validator(SCHEMA).accepts(as_an_editor_reads(path))


_CANDIDATE = "candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}\n"
BROKEN = [
    pytest.param(HEAD.replace("version: 1", "version: 2"), id="version"),
    pytest.param("target: {job_post: a}\n" + _CANDIDATE, id="no version"),
    pytest.param("version: 1\n" + _CANDIDATE, id="no target"),
    pytest.param("version: 1\ntarget: {job_post: a}\n", id="no candidate"),
    pytest.param("version: 1\ntarget: {job_post: a, talent_pool: 1}\n" + _CANDIDATE, id="two targets"),
    pytest.param("version: 1\ntarget: {}\n" + _CANDIDATE, id="empty target"),
    pytest.param("version: 1\ntarget: {job_post: a/b}\n" + _CANDIDATE, id="invalid hash"),
    pytest.param("version: 1\ntarget: {talent_pool: x}\n" + _CANDIDATE, id="invalid pool"),
    pytest.param("version: 1\ntarget: {talent_pool: 1}\nanswers: {q: A}\n" + _CANDIDATE, id="answers of a pool"),
    pytest.param(HEAD.replace("cv: CV", "cv: CV, source_platform: x"), id="platform of a job post"),
    pytest.param(
        "version: 1\ntarget: {talent_pool: 1}\n" + _CANDIDATE.replace("cv: CV", "cv: CV, terms_of_use: T"),
        id="terms of a pool",
    ),
    pytest.param(HEAD.replace(", cv: CV", ""), id="no cv"),
    pytest.param(HEAD.replace("cv: CV", "cv: [A, B]"), id="list instead of a column"),
    pytest.param(HEAD.replace("cv: CV", "cv: ''"), id="a blank column"),
    pytest.param(HEAD + "anwsers: {}", id="unknown key"),
    pytest.param(HEAD + "answers: [A]", id="answers is a list"),
    pytest.param(HEAD + "answers: {q: {}}", id="no source"),
    pytest.param(HEAD + "answers: {q: {column: A, join: [B]}}", id="two sources"),
    pytest.param(HEAD + "answers: {q: {column: []}}", id="no columns"),
    pytest.param(HEAD + "answers: {q: {column: A, with: x}}", id="with without join"),
    pytest.param(HEAD + "answers: {q: {column: A, otherwise: keep}}", id="otherwise without values"),
    pytest.param(HEAD + "answers: {q: {column: A, values: [a]}}", id="values is a list"),
    pytest.param(HEAD + "answers: {q: {column: A, values: {a: b}, otherwise: guess}}", id="unknown word"),
    pytest.param(HEAD + "answers: {q: {column: A, present: [now]}}", id="present elsewhere"),
    pytest.param(HEAD + "answers: {q: {column: A, dates: '%d.%m.'}}", id="date without a year"),
    pytest.param(HEAD + "answers: {q: {education: {degree: D}}}", id="entry without its name"),
    pytest.param(HEAD + "answers: {q: {education: {school_name: S, company_name: C}}}", id="the other kind"),
    pytest.param(HEAD + "answers: {q: {education: {school_name: S, repeat: '{m}'}}}", id="repeat"),
    pytest.param(HEAD + "source: {header_row: 0}", id="row 0"),
    pytest.param(HEAD + "source: {header_row: third}", id="row is not a number"),
    pytest.param(HEAD + "source: {where: {column: A}}", id="where without values"),
    pytest.param(HEAD + "source: {where: {column: A, is: x, is_not: y}}", id="where with both"),
    pytest.param(HEAD + "source: {missing: []}", id="empty missing"),
    pytest.param(HEAD + "defaults: {decimal: ';'}", id="decimal separator"),
    pytest.param(HEAD + "defaults: {region: Turkey}", id="region"),
    pytest.param(HEAD + "defaults: {missing_day: middle}", id="missing day"),
    pytest.param(HEAD + "defaults: {unused_columns: maybe}", id="unused columns"),
    pytest.param(HEAD.replace("cv: CV", "cv: {column: CV, optional: leave_out}"), id="optional cv"),
    pytest.param(HEAD + "answers: {q: {column: A, file: {name: J, key: A}}}", id="lookup without equals"),
    pytest.param(
        HEAD + "answers: {q: {column: A, file: {name: J, key: A, equals: B, order_by: C}}}", id="lookup with an order"
    ),
    pytest.param(HEAD + "answers: {q: {education: {school_name: {column: A, file: J}}}}", id="lookup in an entry"),
    pytest.param(HEAD + "answers: {q: {education: [school]}}", id="a source that is a text"),
]


@pytest.mark.parametrize("text", BROKEN)
def test_the_schema_and_the_reader_refuse_the_same(text: str) -> None:
    """A structural problem is shown in the editor, and refused by the importer."""
    path = write(text)
    with pytest.raises(UnusableInput):
        read_mapping(path)
    assert not Validator(SCHEMA).accepts(as_an_editor_reads(path))
