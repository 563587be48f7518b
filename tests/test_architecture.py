"""The house as docs/architecture.md draws it: imports point down, and each heavy library stays in its room."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "importer"

# What each room may import, besides itself: never another stage, never a room above. `importer/__init__.py` is the
# front door for engineers where it imports, and ground where its version is imported.
GROUND = {"models", "problems", "text", "files", "store", "importer"}
SUPPLIES = {"mapping", "ledger", "service", "settings"}
STAGES = {"sources", "transform", "sending", "report", "suggest"}
MAY_IMPORT = {
    **{room: {"importer"} for room in GROUND},
    "models": {"problems", "importer"},
    "store": {"files", "problems", "importer"},
    "settings": GROUND,
    "documents": GROUND,
    **dict.fromkeys(SUPPLIES - {"settings"}, GROUND | {"settings"}),
    "mapping": GROUND | {"settings", "documents"},
    **dict.fromkeys(STAGES, GROUND | SUPPLIES),
    "transform": GROUND | SUPPLIES | {"documents"},
    "runs": GROUND | SUPPLIES | {"documents", "sources", "report"},
    "notices": GROUND | SUPPLIES | {"report"},
    "app": GROUND | SUPPLIES | STAGES | {"documents", "notices", "runs", "sandbox"},
    "web": GROUND | {"settings", "report", "runs", "app", "web.models"},  # of report the values and their words
    "web.models": GROUND | SUPPLIES | {"sources", "transform", "suggest", "report", "runs", "app"},
    "inbox": GROUND | {"settings", "report", "runs", "app", "notices"},
    "cli": GROUND | {"settings", "report", "runs", "app", "notices", "sandbox", "web", "inbox"},
    "sandbox": {"importer"},
    "__main__": {"cli"},
    "front": {"python_api"},
    "python_api": GROUND | {"settings", "report", "runs", "app", "mapping"},
}

# The only rooms that know a library.
HOMES = {
    "pandas": {"python_api", "runs", "suggest"},
    "openpyxl": {"sources"},
    "xlrd": {"sources"},
    "defusedxml": {"sources"},
    "csv": {"sources", "mapping", "report", "documents", "python_api"},
    "ruamel": {"mapping", "suggest"},
    "rapidfuzz": {"text", "suggest"},
    "regex": {"mapping"},
    "phonenumbers": {"transform", "suggest", "mapping"},
    "email_validator": {"transform"},
    "sqlite3": {"store", "ledger"},
    "sqlalchemy": {"ledger"},
    "filelock": {"store", "sandbox"},
    "psycopg": {"ledger"},
    "requests": {"service"},
    "urllib3": {"service"},
    "certifi": {"service"},
    "truststore": {"service"},
    "pycurl": {"service"},
    "tenacity": {"service", "sending"},
    "jinja2": {"report", "web"},
    "markupsafe": {"web"},
    "fastapi": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "python_multipart": {"web"},
    "xlsxwriter": {"report", "suggest"},
    "apprise": {"notices"},
    "prometheus_client": {"notices"},
    "typer": {"cli"},
    "rich": {"cli"},
    "dotenv": {"settings"},
    "pydantic": {"settings", "service", "mapping", "report", "runs", "sandbox", "inbox", "app", "web"},
    "pydantic_core": {"mapping"},
}


@dataclass(frozen=True)
class Arrow:
    """One import: the file and line it stands in, its room, and the full name of what it imports."""

    file: Path
    line: int
    room: str
    module: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def room_of(module: str) -> str:
    """`importer.sending.pace` is in the room `sending`; `importer` alone is the package itself.

    What the page shows is a room behind its steps: no step knows a stage.
    """
    if module.startswith("importer.web.models"):
        return "web.models"
    return module.split(".")[1] if "." in module else "importer"


def arrows(package: Path) -> Iterator[Arrow]:
    """Every import of the package, also those inside functions."""
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}:{node.lineno}: a relative import hides where it points"
                rooms = node.module == "importer"
                names = [
                    f"importer.{alias.name}" if rooms and alias.name != "__version__" else node.module or ""
                    for alias in node.names
                ]
            else:
                continue
            for name in names:
                yield Arrow(file, node.lineno, "front" if module == "importer" else room_of(module), name)


def faults(package: Path) -> list[str]:
    """Every import that points up, sideways, or takes a library out of its room."""
    found = []
    for arrow in arrows(package):
        top = arrow.module.split(".")[0]
        if top == "importer":
            goal = room_of(arrow.module)
            if goal != arrow.room and goal not in MAY_IMPORT[arrow.room]:
                found.append(f"{arrow}: {arrow.room} may not know {goal}")
        elif arrow.room not in HOMES.get(top, {arrow.room}):
            found.append(f"{arrow}: {top} lives in {' and '.join(sorted(HOMES[top]))} only")
    return found


def test_imports_point_down_and_libraries_stay_in_their_rooms() -> None:
    """No file imports from a room above or beside its own, or a library outside its room."""
    assert faults(PACKAGE) == []


def test_the_house_has_at_most_eight_floors() -> None:
    """A room stands one floor above the highest room that it imports, and no two rooms import each other."""
    below: dict[str, set[str]] = {}
    for arrow in arrows(PACKAGE):
        room, goal = (name.partition(".")[0] for name in (arrow.room, room_of(arrow.module)))
        if arrow.module.startswith("importer.") and goal != room:
            below.setdefault(room, set()).add(goal)
    order = TopologicalSorter(below).static_order()  # refuses a circle
    floors: dict[str, int] = {}
    for room in order:
        floors[room] = 1 + max((floors[one] for one in below.get(room, ())), default=0)
    assert max(floors.values()) == 8


def test_another_ledger_is_one_file_to_write() -> None:
    """Others know the ledger by its front alone, and only the files of a store know what database it is kept in."""
    found = list(arrows(PACKAGE))
    past_the_front = [str(one) for one in found if one.module.startswith("importer.ledger.") and one.room != "ledger"]
    assert past_the_front == []
    for database, modules in {"sqlite": {"importer.store.sqlite"}, "postgres": {"psycopg", "psycopg.conninfo"}}.items():
        knowing = {one.file.name for one in found if one.module in modules and one.room == "ledger"}
        assert knowing == {file.name for file in (PACKAGE / "ledger").glob(f"{database}_*.py")}


def test_every_room_is_in_the_plan() -> None:
    """A new room must be drawn into the plan before it is built."""
    rooms = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in PACKAGE.rglob("*.py")} - {"__init__"}
    assert rooms <= set(MAY_IMPORT)


def test_there_are_no_drawers_for_odds_and_ends() -> None:
    """No file is called utils, helpers, core, base, common or manager: such a name hides a duty."""
    drawers = {"utils", "util", "helpers", "helper", "core", "base", "common", "manager", "misc"}
    assert [str(file) for file in PACKAGE.rglob("*.py") if file.stem in drawers] == []


def test_a_name_has_one_meaning() -> None:
    """No two files define a type of the same name: a reader who knows one would take the other for it."""
    homes: dict[str, list[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        if "sandbox" in file.parts:  # it speaks of the same things and shares no code
            continue
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(PACKAGE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_every_file_says_its_duty_in_its_first_line() -> None:
    """Each file opens with a docstring whose first line is a sentence."""
    silent = [str(file) for file in PACKAGE.rglob("*.py") if not ast.get_docstring(ast.parse(file.read_text("utf-8")))]
    assert silent == []


PLANTED = [
    pytest.param(
        "sending/a.py", "from importer.report import b", "sending may not know report", id="a stage knows another"
    ),
    pytest.param("ledger/a.py", "import importer.cli.app", "ledger may not know cli", id="an arrow points up"),
    pytest.param("sandbox/a.py", "from importer import models", "sandbox may not know models", id="no stranger"),
    pytest.param(
        "sending/a.py", "def f():\n    import requests", "requests lives in service only", id="a library leaves"
    ),
]


@pytest.mark.parametrize(("file", "line", "fault"), PLANTED)
def test_the_check_itself_finds_a_planted_fault(tmp_path: Path, file: str, line: str, fault: str) -> None:
    """The check can fail: a planted import is found and named."""
    planted = tmp_path / "importer" / file
    planted.parent.mkdir(parents=True)
    planted.write_text(line, encoding="utf-8")
    assert [found.split(": ")[1] for found in faults(tmp_path / "importer")] == [fault]


def test_python_is_new_enough_for_the_checks() -> None:
    """The suite runs on the Python that the project names as its oldest, or a newer one."""
    assert sys.version_info >= (3, 11)
