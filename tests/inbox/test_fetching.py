"""Files that are fetched from elsewhere: each state once, whole, and without a password in inbox.toml."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pytest

from importer.problems import UnusableInput
from tests.cli.conftest import HEADER, Served, candidate, front_door, serve
from tests.inbox.conftest import RULES, Night, night_of

__all__ = ["front_door", "serve"]


@pytest.fixture
def elsewhere() -> Iterator[Any]:
    """A storage in memory."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


@pytest.fixture
def night(serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> Night:
    return night_of(serve(), monkeypatch, f'fetch = ["memory://out/people*.csv"]\n{RULES}')


def put(system: Any, name: str, *numbers: int) -> None:
    lines = [",".join(HEADER), *(",".join(candidate(number)) for number in numbers)]
    system.pipe_file(f"/out/{name}", "\n".join(lines).encode())


def test_a_file_is_fetched_once_and_again_when_it_changed(night: Night, elsewhere: Any) -> None:
    """It is imported as if it had arrived; the same state is not fetched again, and another one is."""
    put(elsewhere, "people1.csv", 1, 2)
    assert (night.run(), night.places) == (0, {"done": ["people1.csv"]})
    assert night.run() == 0
    assert night.ended == []
    put(elsewhere, "people1.csv", 1, 2, 3)
    assert night.run() == 0
    assert [one.outcomes for one in night.ended] == [{"created": 1, "already_imported": 2}]
    assert sorted(night.served.accepted) == [f"person{number}@example.com" for number in (1, 2, 3)]
    assert elsewhere.ls("/out", detail=False) == ["/out/people1.csv"]


def test_a_file_that_is_still_written_there_is_left(night: Night, elsewhere: Any) -> None:
    """The second look, ten seconds later, finds another state; the next pass fetches it."""
    put(elsewhere, "people1.csv", 1)
    night.at_sleep = lambda: put(elsewhere, "people1.csv", 1, 2)
    assert (night.run(), night.places) == (0, {})
    night.at_sleep = lambda: None
    assert (night.run(), night.places) == (0, {"done": ["people1.csv"]})
    assert len(night.served.accepted) == 2


def test_a_file_that_changes_while_it_is_fetched_is_not_taken(
    night: Night, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its copy may be half of one state and half of another: the next pass fetches it."""
    put(elsewhere, "people1.csv", 1)
    get, size = elsewhere.get_file, elsewhere.size("/out/people1.csv")

    def get_while_written(name: str, path: str) -> None:
        get(name, path)
        if not night.errors and elsewhere.size("/out/people1.csv") == size:
            put(elsewhere, "people1.csv", 1, 2)

    monkeypatch.setattr(elsewhere, "get_file", get_while_written)
    assert (night.run(), night.places) == (5, {})
    assert str(night.errors[0]) == (
        "memory:///out/people1.csv changed while it was fetched; the next pass tries it again"
    )
    assert (night.run(), night.places, len(night.served.accepted)) == (0, {"done": ["people1.csv"]}, 2)


@pytest.mark.parametrize("is_linked", [True, False], ids=["after it is in incoming", "before"])
def test_a_pass_that_was_killed_while_fetching_fetches_once(night: Night, elsewhere: Any, is_linked: bool) -> None:
    """A draft that is in incoming already is only noted; another one is fetched again."""
    put(elsewhere, "people1.csv", 1)
    night.run()
    fetched = night.folder / ".importer" / "fetched"
    kept = json.loads((fetched.parent / "fetched.json").read_text())
    put(elsewhere, "people2.csv", 2)
    draft = fetched / "d"
    draft.write_text("\n".join((",".join(HEADER), ",".join(candidate(2)))))
    info = elsewhere.info("/out/people2.csv")
    state = f"size={info['size']} created={info['created']}"
    (address,) = kept["fetched"]
    note = {"address": address.replace("1.csv", "2.csv"), "state": state, "sha256": "x", "draft": "d"}
    (fetched / "d.json").write_text(json.dumps(note))
    if is_linked:
        (night.folder / "incoming" / "people2.csv").hardlink_to(draft)
    assert night.run() == 0
    assert (night.places, list(fetched.iterdir())) == ({"done": ["people1.csv", "people2.csv"]}, [])
    night.run()
    assert night.ended == []


def test_what_cannot_be_fetched_does_not_stop_the_others(night: Night, elsewhere: Any) -> None:
    """It is reported with code 5 and without the text of the driver, which may quote a key."""
    rules = night.folder / "inbox.toml"
    rules.write_text(rules.read_text().replace("fetch = [", 'fetch = ["memory://gone/x.csv", "nonsense://a/b", '))
    put(elsewhere, "people1.csv", 1)
    assert (night.run(), night.places) == (5, {"done": ["people1.csv"]})
    assert list(map(str, night.errors)) == [
        "memory://gone/x.csv cannot be fetched: FileNotFoundError; the next pass tries it again",
        "nonsense://a/b cannot be fetched: ValueError; the next pass tries it again",
    ]


def test_a_password_does_not_belong_into_the_rules(night: Night) -> None:
    """It is refused before anything is fetched, and not repeated."""
    rules = night.folder / "inbox.toml"
    rules.write_text(rules.read_text().replace("memory://out", "sftp://ada:s3cret@example.com/out"))
    assert night.run() == 3
    (error,) = night.errors
    assert isinstance(error, UnusableInput)
    assert "without a password: it comes from the environment" in str(error)
    assert "s3cret" not in str(error)
    assert Path(night.folder / "incoming").is_dir()
