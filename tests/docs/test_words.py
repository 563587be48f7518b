"""What a person can read uses plain words: none of the phrases that were replaced by standard ones comes back."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.samples.sample import ROOT

# Each pattern and what to write instead. Upper and lower case make no difference.
PHRASES = {
    # sentences
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bguilty\b": "highlighted cells",
    r"\bmistakes?\b": "error, problem",
    r"\ball is told\b|\bis told\b|\btold\b|\bsaid\b": "report, show, print, list",
    r"\bheld up\b": "delayed",
    r"\bended from outside\b": "was killed",
    r"\b(?<!there )(is|are) no (?!longer\b|more\b)": "is not a",
    r"\bthere is none\b": "does not exist, is missing",
    r"\bsays something close\b|\bnot quite the same\b": "is similar, but not identical",
    r"\bit was set by the environment\b": "set by the environment variable X",
    r"\bnothing is to be done\b|\bnothing to be done\b": "no action needed",
    r"\bgood to know\b": "Notes",
    r"\bleft out by\b": "excluded by `where:`",
    r"\bour own earlier attempt\b|\bdid not arrive\b": "most likely created by our own earlier request",
    r"\bno clear answer\b": "the response was lost or inconclusive",
    r"\bservice's people\b": "the administrator of your recruiting service",
    r"\brepetitions?\b": "retries",
    r"\bbeats? (them |it )?all\b": "command-line flags take precedence",
    r"\d certain\b|\bcertain, ": "N matched, N to review",
    r"\bto check$": "N matched, N to review",
    r"\bnobody\b|\bsomebody\b|\bwhoever\b|\bwhom\b": "no one, a user, or another sentence",
    r"\bat work\b": "running",
    # other words that the rule names
    r"\bhand(s|ed|ing)? over\b": "give, pass",
    r"\bastray\b|\btorn\b|\btwins?\b|\btrouble\b|\bdoubts?\b": "a plain word",
    r"\bhonest(ly)?\b|\bwish(es|ed)?\b|\bafresh\b|\banew\b": "a plain word",
    r"\bby hand\b": "manually",
    r"\b(?<!one )of the two\b": "name it",
    r"\bwhat (lies|stands)\b": "what is",
    r"\bas it is\b(?! written\b)": "unchanged, or nothing",
    # names that were replaced
    r"\balready[ _]there\b": "already exists",
    r"\bunclear\b": "unconfirmed",
    r"\bdone[ _]before\b": "already imported",
    r"\bimporter look\b": "importer inspect",
    r"--(in-flight|settle|again|absent)\b": "the new flag",
    r"\bIMPORTER_(IN_FLIGHT|SETTLE\w*|CONNECT_SECONDS|SILENCE|ANSWER|ATTEMPTS|RETRY_BUDGET|PAUSE_SECONDS)": "new name",
}
_HEADINGS = {"must": "required", "in all": "total"}
_PATTERNS = {re.compile(phrase, re.IGNORECASE): instead for phrase, instead in PHRASES.items()}
_LITERATE = ("README.md", "CHANGELOG.md", "docs/*.md", "mappings/**/*.yaml")


def texts() -> Iterator[tuple[str, str]]:
    """Everything that a person can read, a line or a text of the code at a time, each with its place."""
    for pattern in _LITERATE:
        for file in sorted(ROOT.glob(pattern)):
            yield from (line for line in _lines(file) if not _is_rename(file, line[1]))
    for file in sorted((ROOT / "importer").rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        # The docstrings of commands are their help.
        found = texts_of_code(file.read_text(encoding="utf-8"), with_docstrings=name.startswith("importer/cli/"))
        yield from ((f"{name}:{line}", text) for line, text in found)
    # In suggest/ they are words of the files that people import.
    yield from _lines(ROOT / "importer" / "report" / "problem_codes.toml")
    yield from _lines(ROOT / "importer" / "web" / "texts.toml")
    for file in sorted((ROOT / "importer").rglob("*.json")):
        name = file.relative_to(ROOT).as_posix()
        yield from ((name, text) for text in _texts_of_json(json.loads(file.read_text(encoding="utf-8"))))


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    name = file.relative_to(ROOT).as_posix()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        yield f"{name}:{number}", line


def _is_rename(file: Path, line: str) -> bool:
    """Whether it is a row of a table in the changelog, which names what was renamed."""
    return file.name == "CHANGELOG.md" and line.startswith("|")


def texts_of_code(code: str, *, with_docstrings: bool) -> Iterator[tuple[int, str]]:
    """The texts of a Python file and their lines; a formatted one as one text, with {} for each value."""
    tree = ast.parse(code)
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
        elif isinstance(node, ast.Expr) and not with_docstrings:
            skipped.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.lineno, node.value


def _texts_of_json(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts_of_json(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_of_json(inner)
    elif isinstance(value, str):
        yield value


def odd_phrases(text: str) -> list[str]:
    """The replaced phrases in a text, each with what to write."""
    found = [f"'{match[0]}' -> {instead}" for pattern, instead in _PATTERNS.items() if (match := pattern.search(text))]
    return found + [f"'{text}' -> {instead}" for heading, instead in _HEADINGS.items() if text == heading]


def test_no_replaced_phrase_comes_back() -> None:
    """In no message, help text, page, example mapping or data file."""
    assert [f"{place}: {odd}: {text}" for place, text in texts() for odd in odd_phrases(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Mend the row", ["'Mend' -> fix"], id="a word at any place"),
        pytest.param("{} is no date", ["'is no ' -> is not a"], id="a phrase"),
        pytest.param("this is no longer asked", [], id="the same words with another meaning"),
        pytest.param("recommend, amendment", [], id="a part of another word"),
        pytest.param("must", ["'must' -> required"], id="a heading"),
        pytest.param("a key must be a text", [], id="the same word in a sentence"),
    ],
)
def test_the_check_finds_a_phrase(text: str, found: list[str]) -> None:
    """The check can fail."""
    assert odd_phrases(text) == found


def test_texts_of_code_are_those_that_run() -> None:
    """Parts of formatted texts are one text; docstrings are left out, unless they are help."""
    code = '"""About."""\nx = f"no {x} here"\ny = "plain"\n'
    assert list(texts_of_code(code, with_docstrings=False)) == [(2, "no {} here"), (3, "plain")]
    assert next(texts_of_code(code, with_docstrings=True)) == (1, "About.")


# The distribution is candidate-importer: the other name, on the public index, is another project's package.
_OTHER_DISTRIBUTION = re.compile(r"(?<![\w-])importer\[|\binstall (?:-\S+ )*[\"']?importer\b(?!-)")


def _texts_of_the_project() -> Iterator[tuple[str, str]]:
    """Every text file of the source tree by its name, without what is created in it."""
    made = ("results", "build", "dist")
    for top in sorted(ROOT.iterdir()):
        if top.name in made or top.suffix == ".egg-info" or (top.name.startswith(".") and top.name != ".ci"):
            continue
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if file.is_file() and "__pycache__" not in file.parts:
                content = file.read_bytes()
                if b"\0" not in content:
                    yield str(file.relative_to(ROOT)), content.decode("utf-8", "replace")


def test_no_text_installs_another_project() -> None:
    """Every text that names the distribution or its extras names ours, as pyproject.toml does."""
    texts = dict(_texts_of_the_project())
    assert '\nname = "candidate-importer"\n' in texts["pyproject.toml"]
    assert "candidate-importer[web]" in texts["importer/cli/server_commands.py"]
    found = [
        f"{name}: {line.strip()}"
        for name, text in texts.items()
        for line in text.splitlines()
        if _OTHER_DISTRIBUTION.search(line)
    ]
    assert found == []
