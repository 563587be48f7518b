"""docs/dependencies.md, docs/deploy and docs/versioning.md say what is so; the container is checked without Docker."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import Any

from packaging.requirements import Requirement
from ruamel.yaml import YAML

from importer.cli.app import load_command
from importer.settings import Settings
from tests.docs.markdown import table
from tests.samples.sample import ROOT
from tests.test_architecture import HOMES

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DEPLOY = ROOT / "docs" / "deploy"
OF_USERS = ("fast", "postgres", "web", "notify")
_MODULES = {"python-dotenv": "dotenv", "phonenumberslite": "phonenumbers", "ruamel.yaml": "ruamel"}


def _names(requirements: list[str]) -> list[str]:
    return [Requirement(one).name.lower() for one in requirements]


def test_each_library_is_listed_with_its_room() -> None:
    """docs/dependencies.md has the dependencies of pyproject.toml, and the rooms that may use each."""
    page = ROOT / "docs" / "dependencies.md"
    always = table(page, "library", "why")
    extras = table(page, "library", "extra")
    assert sorted(map(str.lower, always)) == sorted(_names(PROJECT["dependencies"]))
    assert {name.lower(): row[0] for name, row in extras.items()} == {
        name: extra for extra in OF_USERS for name in _names(PROJECT["optional-dependencies"][extra])
    }
    for name, row in (always | {name: row[1:] for name, row in extras.items()}).items():
        lower = name.lower()
        assert set(row[1].split(", ")) == HOMES[_MODULES.get(lower, lower.replace("-", "_"))], name


def test_the_container_has_what_it_copies_and_is_not_root() -> None:
    """The lines of the Dockerfile: a slim image, files that exist, a user of its own, the command of the package."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    steps: dict[str, list[str]] = {}
    for word, rest in lines:
        steps.setdefault(word, []).append(rest)
    (base,) = steps["FROM"]
    image, _, version = base.removesuffix("-slim").partition(":")
    assert (image, base.endswith("-slim"), version in _pythons()) == ("python", True, True)
    for copied in steps["COPY"]:
        *sources, target = copied.split()
        assert target.startswith("/src/")
        assert [source for source in sources if not (ROOT / source).exists()] == []
    extras = re.search(r"/src\[([\w,]+)\]", " ".join(steps["RUN"]))
    assert extras is not None
    assert set(extras[1].split(",")) == set(OF_USERS)
    assert "--uid 10001" in steps["RUN"][0]
    assert steps["USER"] == ["10001"]
    assert lines.index(["USER", "10001"]) > max(index for index, line in enumerate(lines) if line[0] == "RUN")
    assert json.loads(steps["ENTRYPOINT"][0]) == list(PROJECT["scripts"])


def _pythons() -> list[str]:
    return [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]


def test_the_services_of_compose_fit_the_settings() -> None:
    """Each variable of the importer is a setting, and what it is built from exists."""
    compose = YAML(typ="safe").load(DEPLOY / "compose.yaml")
    ours, ledger = compose["services"]["importer"], compose["services"]["ledger"]
    assert {name.removeprefix("IMPORTER_").lower() for name in ours["environment"]} <= set(Settings.model_fields)
    context = DEPLOY / ours["build"]["context"]
    assert (context / ours["build"]["dockerfile"]).resolve() == (DEPLOY / "Dockerfile").resolve()
    assert set(ours["secrets"]) == set(compose["secrets"])
    assert {volume.partition(":")[0] for volume in ledger["volumes"]} == set(compose["volumes"])


def test_the_workflow_runs_commands_that_exist() -> None:
    """Its lines are commands of importer, and the package is named as it is installed."""
    workflow = YAML(typ="safe").load(DEPLOY / "check_mappings.yml")
    lines = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert f"pipx install {PROJECT['name']}" in lines
    commands = re.findall(r"importer (mapping \w+)", "\n".join(lines))
    assert commands == ["mapping test", "mapping check"]
    for command in commands:
        group, name = shlex.split(command)
        assert name in load_command(group).commands  # type: ignore[attr-defined]


def test_what_the_package_says_of_itself() -> None:
    """The Pythons that are tested, and that it has types."""
    assert (ROOT / "importer" / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert f">={_pythons()[0]}" == PROJECT["requires-python"]
