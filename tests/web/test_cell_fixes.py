"""Fixes of many cells at once, proven by the mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.app.import_file import check_file
from importer.app.orders import Order, SandboxSetup, Sending
from importer.problems import UsageError
from importer.settings import Settings
from importer.web.models.cell_fixes import Fix, apply_fix, proposed_fix
from importer.web.models.checked_rows import CheckedRows
from tests.cli.conftest import MAPPING, candidate, write_csv

EMAIL, PHONE, DATE = ("email-invalid", "E-mail"), ("phone-invalid", "Phone"), ("date-invalid", "Salary")
LETTERS = ("phone-invalid", "Phone")
SEVERAL = "a@example.com, b@example.com"


def checked(folder: Path, rows: list[list[str]], mapping: str = MAPPING) -> CheckedRows:
    file = write_csv(folder / "people.csv", rows)
    (folder / "mapping.yaml").write_text(mapping, "utf-8")
    settings = Settings(out=folder / "results")
    order = Order(file, folder / "mapping.yaml", settings, sending=Sending(sandbox_setup=SandboxSetup()))
    return CheckedRows(check_file(order).folder.name, folder / "corrections.csv", settings)


def test_each_fix_makes_the_cells_valid_that_it_says(tmp_path: Path) -> None:
    """Of each cause the rewrite that repairs most cells, with examples; what would be a guess is left to a person."""
    emails = {
        "ada(at)example.com": "ada@example.com",
        "bob [at] example (dot) com": "bob@example.com",
        "cem at example dot com": "cem@example.com",
        "dan@example,com": "",  # another fix
        "eve smith@example.com": "",  # a blank inside may be a dot, or nothing
        "fay(at)example": "",  # it is not valid afterwards either
        SEVERAL: "",
    }
    phones = {"+ +905550000001": "+905550000001", "00+905550000002": "+905550000002", "+90555x": "", "+90 555 a 1": ""}
    rows = [candidate(number, **{"E-mail": text}) for number, text in enumerate(emails)]
    rows += [candidate(10 + number, Phone=text) for number, text in enumerate(phones)]
    found = checked(tmp_path, rows)
    for cause, name, texts in ((EMAIL, "at_sign", emails), (PHONE, "pluses", phones)):
        new = {old: text for old, text in texts.items() if text}
        fix = proposed_fix(found, cause)
        assert fix is not None
        assert (fix.name, fix.cells, fix.is_all) == (name, len(new), True)
        assert set(fix.examples) == set(list(new.items())[:3])
        assert apply_fix(found, cause, name) == len(new)
        assert new.items() <= {one.old: one.new for one in found.corrections.values()}.items()
    assert {one.old for one in found.corrections.values()} == {old for old, new in {**emails, **phones}.items() if new}
    second = proposed_fix(found, EMAIL)
    assert second == Fix("commas", 1, (("dan@example,com", "dan@example.com"),), 4, True)
    with pytest.raises(UsageError):
        apply_fix(found, EMAIL, "pluses")


@pytest.mark.parametrize(
    ("cause", "text", "new"),
    [
        (EMAIL, "<ada@example.com>;", "ada@example.com"),
        (EMAIL, "mailto:ada@example.com.", "ada@example.com"),
        (EMAIL, "ada @ example .com", "ada@example.com"),
        (EMAIL, "ada@@example..com", "ada@example.com"),
        (EMAIL, "<ada(at)example.com>", ""),  # two rewrites at once are not tried
        (LETTERS, "+90 555 OOO 00 01", "+90 555 000 00 01"),
        (LETTERS, "+90 555 000 00 01 mobile", "+90 555 000 00 01"),
        (LETTERS, "+90 555 000 x 0001", ""),
        (DATE, "2025/04/03", "2025-04-03"),
        (DATE, "03/04/2025", ""),
    ],
)
def test_one_text(tmp_path: Path, cause: tuple[str, str], text: str, new: str) -> None:
    """The new text of a cell; "" where no rewrite proves to be right."""
    mapping = MAPPING if cause is not DATE else MAPPING.replace("salary: Salary", "available_from: Salary")
    salary = {"Salary": ""} if cause is DATE else {}
    found = checked(tmp_path, [candidate(1, **{**salary, cause[1]: text})], mapping)
    assert found.page(0, 5, cause)
    fix = proposed_fix(found, cause)
    assert (fix.examples if fix else ()) == (((text, new),) if new else ())
