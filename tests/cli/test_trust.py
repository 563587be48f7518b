"""Nothing of the folder that a command is typed in is trusted: neither its modules nor its settings."""

from __future__ import annotations

from tests.cli.conftest import FrontDoor, candidate, write_csv

PLANTED = ("secrets", "csv", "json", "tempfile", "pandas", "pycurl", "runpy", "typing", "__future__")


def test_modules_beside_the_file_are_not_run(front_door: FrontDoor) -> None:
    """Neither by the command nor by a process that it starts: for a workbook, a sandbox, the report of a long run."""
    for name in PLANTED:
        code = f"from pathlib import Path; Path({str(front_door.folder / 'was-run')!r}).write_text({name!r})\n"
        (front_door.folder / f"{name}.py").write_text(code, "utf-8")
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(2_100)])
    mapping = ("--mapping", "mapping.yaml", "--sandbox")
    for arguments in (
        ("run", "people.csv", *mapping),
        ("template", "4f2c9a", "--sandbox"),
        ("look", "template-4f2c9a.xlsx"),
    ):
        with front_door.started(*arguments, IMPORTER_TOKEN="t") as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert not (front_door.folder / "was-run").exists()
