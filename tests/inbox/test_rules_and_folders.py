"""inbox.toml is checked strictly, and only incoming/ may be open to others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from importer.inbox.folders import open_inbox
from importer.inbox.rules import FileRule, Rules, read_rules
from importer.problems import UnusableInput
from tests.inbox.conftest import write_rules

DOCS = Path(__file__).parent.parent.parent / "docs" / "inbox.md"

WRONG = """\
wai = "1m"
wait = "soon"
[[files]]
patern = "*.csv"
mapping = "m.yaml"
complete = "unchangd"
marker = "done"
rate = "5"
sandbox = "yes"
max_errors = "few"
[[files]]
pattern = "in/*.csv"
mapping = "m.yaml"
[files.changes]
header = "stop"
"""


def test_every_problem_is_reported_with_its_section(tmp_path: Path) -> None:
    """All at once, each with what to write instead."""
    (tmp_path / "inbox.toml").write_text(WRONG)
    with pytest.raises(UnusableInput) as refused:
        read_rules(tmp_path)
    first, second = "[[files]] number 1: ", "[[files]] number 2: "
    known = "pattern, mapping, complete, settle, marker, sheet, rate, concurrency, max_errors, resend_unconfirmed, "
    known += "resend_rejected, give_up_after, strict, sandbox"
    assert {str(one).removeprefix(f"{tmp_path}/inbox.toml: ") for one in refused.value.problems} == {
        "unknown key 'wai'; did you mean 'wait'? use one of files, wait",
        "wait is not valid: 'soon' is not a valid duration; write it like 15m, 90s or 2h; fix the value",
        f"{first}it has no pattern; add pattern = to it",
        f"{first}unknown key 'patern'; did you mean 'pattern'? use one of {known}",
        f"{first}complete is not valid; did you mean 'unchanged'? use one of unchanged, marker, renamed",
        f"{first}marker is not valid: it does not name its file; write the name of the file as {{name}}, like "
        '"{name}.done"',
        f"{first}rate is not valid; write a number greater than 0, without quotes",
        f"{first}sandbox is not valid; write true or false",
        f"{first}max_errors is not valid: 'few' is not a valid limit for errors; use a number of rows (25) or a "
        "percentage (5%); fix the value",
        f"{second}pattern is not valid: it contains a folder; write only the name of the file; its folder is incoming",
        f"{second}unknown key 'changes'; use one of {known}",
    }


_SECTION = '[[files]]\npattern = "*.csv"\nmapping = "m.yaml"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("wait = name", "the file cannot be read: Invalid value (at line 1, column 8)", id="not TOML"),
        pytest.param("", "the file has no [[files]] section", id="no section"),
        pytest.param('files = ["x"]', "the file has no [[files]] section", id="a text as a section"),
        pytest.param(f"wait = nan\n{_SECTION}", "wait is not valid: it is not a time", id="no time"),
        pytest.param(f"{_SECTION}rate = inf\n", "[[files]] number 1: rate is not valid", id="endless rate"),
    ],
)
def test_a_file_without_rules_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """With what is wrong in it."""
    (tmp_path / "inbox.toml").write_text(text)
    with pytest.raises(UnusableInput) as refused:
        read_rules(tmp_path)
    assert refused.value.problems[0].message == problem


def test_the_inbox_toml_of_the_docs_can_be_used_and_its_comments_are_valid_settings(tmp_path: Path) -> None:
    """As it is, and with each of its commented settings switched on: together, they are every key that exists."""
    text = re.findall(r"```toml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)[0]
    box = tmp_path / "import" / "night"
    box.mkdir(mode=0o755, parents=True)
    mapping = tmp_path / "import" / "mappings" / "nightly.yaml"
    mapping.parent.mkdir()
    mapping.touch()
    write_rules(box, text)
    assert open_inbox(box).rules == Rules(files=(FileRule.model_construct(pattern="acme_*.xlsx", mapping=mapping),))
    lines = [line.removeprefix("# ") if re.match(r"# \w+ = ", line) else line for line in text.splitlines()]
    (box / "inbox.toml").write_text("\n".join(lines))
    assert read_rules(box).files[0].rate == 5
    keys = [match[1] for line in lines if (match := re.match(r"(\w+) = ", line))]
    known = [name for name in (*Rules.model_fields, *FileRule.model_fields) if name != "files"]
    assert sorted(keys) == sorted(known)


def test_only_incoming_may_be_open_to_others(tmp_path: Path) -> None:
    """Each folder is made private, incoming/ stays as it is opened; rules that others could change are refused."""
    box = tmp_path / "box"
    box.mkdir(mode=0o755)
    mapping = tmp_path / "m.yaml"
    mapping.touch()
    rules = write_rules(box, '[[files]]\npattern = "*.csv"\nmapping = "../m.yaml"\n')
    open_inbox(box)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in box.iterdir() if path.is_dir()}
    assert modes == dict.fromkeys(("incoming", "working", "done", "attention"), "0o700")
    (box / "incoming").chmod(0o777)
    (box / "done").chmod(0o755)
    open_inbox(box)
    assert [oct((box / name).stat().st_mode & 0o777) for name in ("incoming", "done")] == ["0o777", "0o700"]
    box.chmod(0o777)
    rules.chmod(0o666)
    mapping.unlink()
    (box / "incoming").rmdir()
    (box / "incoming").touch()
    with pytest.raises(UnusableInput) as refused:
        open_inbox(box)
    assert [(one.code, str(one.place)) for one in refused.value.problems] == [
        ("inbox-rules-invalid", str(mapping)),
        ("inbox-open-to-others", str(box)),
        ("inbox-open-to-others", str(rules)),
        ("inbox-folder-invalid", str(box / "incoming")),
    ]
