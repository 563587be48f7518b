"""Hundreds of broken mapping files: each is refused at the line that was broken, never with a traceback."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from importer.mapping import read_mapping
from importer.problems import LinePlace, UnusableInput

pytestmark = pytest.mark.net

_MAPPINGS = Path(__file__).parent.parent.parent / "mappings"
_KEY = re.compile(r'(\s*)((?:- )?)("[^"]+"|[\w.-]+):(\s+)([^\s#].*)')
_EACH = 4  # of these lines is broken
_FEWEST = 60  # files
_RIGHT = 0.95  # of the files are refused at the line that was broken

Break = Callable[[re.Match[str]], str]
_BREAKS: dict[str, Break] = {
    "no colon": lambda key: f"{key[1]}{key[2]}{key[3]} {key[5]}",
    "no space behind the colon": lambda key: f"{key[1]}{key[2]}{key[3]}:{key[5]}",
    "tab": lambda key: f"\t{key[0].lstrip()}",
    "open quote": lambda key: f'{key[1]}{key[2]}{key[3]}: "{key[5]}',
    "open bracket": lambda key: f"{key[1]}{key[2]}{key[3]}: [{key[5]}",
    "list of lists": lambda key: f"{key[1]}{key[2]}{key[3]}: [[x]]",
    "keys of keys": lambda key: f"{key[1]}{key[2]}{key[3]}: {{abc: {{d: e}}}}",
    "tag": lambda key: f"{key[1]}{key[2]}{key[3]}: !!python/name:os.system {key[5]}",
    "key twice": lambda key: f"{key[0]}\n{key[0]}",
}


def _broken(lines: list[str], change: Break) -> Iterator[tuple[int, str]]:
    """Each line that can be broken like this: its number, from 1, and the text of the file."""
    for number, line in list(enumerate(lines))[::_EACH]:
        if (key := _KEY.fullmatch(line)) and not (key[5].startswith('"') and '"' in key[5][1:] and "{" in key[5]):
            yield number + 1, "\n".join([*lines[:number], change(key), *lines[number + 1 :]])


@pytest.mark.parametrize("name", _BREAKS)
def test_a_broken_file_is_refused_at_its_line(name: str, tmp_path: Path) -> None:
    """Every fourth line of every mapping of the samples is broken once in this way."""
    shutil.copytree(_MAPPINGS, tmp_path / "all")
    right = tried = 0
    for source in sorted((tmp_path / "all").glob("*.yaml")):
        lines = source.read_text(encoding="utf-8").split("\n")
        for number, text in _broken(lines, _BREAKS[name]):
            source.write_text(text, encoding="utf-8")
            tried += 1
            with pytest.raises(UnusableInput) as refused:
                read_mapping(source)
            places = [one.place for one in refused.value.problems if isinstance(one.place, LinePlace)]
            right += any(number <= place.line <= number + (name == "key twice") for place in places)
            assert all(one.message and one.hint for one in refused.value.problems)
        source.write_text("\n".join(lines), encoding="utf-8")
    assert tried > _FEWEST
    assert right >= _RIGHT * tried
