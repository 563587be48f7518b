"""Candidates are shown as they would be sent, source cell beside answer, the odd ones first."""

from __future__ import annotations

from tests.cli.conftest import FrontDoor, candidate, write_csv

MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {unused_columns: ignore}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
answers:
  phone: {column: Phone, region: TR}
  level: {column: Salary, values: {"1000": Senior}, otherwise: {value: Junior}}
  work_permit: {value: "yes"}
  cover_letter: Permit
  experience:
    experience:
      cell: {column: First, split: ";", pattern: '(?P<company>[^;(]+) ?(?P<left>.*)'}
      company_name: company
      end_date: {column: left, dates: "(%Y)", missing_day: last, missing_month: last, present: (now)}
"""
TABLE = """\
Row 3, by `otherwise`; day or month added; country code added; a long text

cell       is read as                  question      is sent
────────────────────────────────────────────────────────────────────────────────
A3 E-mail  person2@example.com         email         person2@example.com
B3 First   Acme (2019);Globex (now)    first_name    Acme (2019);Globex (now)
C3 Last    Nr2                         last_name     Nr2
D3 CV      7001                        cv            7001
E3 Phone   0555 000 00 02              phone         +905550000002
                                                     (country code added)
                                       work_permit   yes
                                                     (the same for every row)
G3 Salary  500                         level         Junior
                                                     (by `otherwise`)
F3 Permit  word word word word word    cover_letter  word word word word word
           word word word word word                  word word word word word
           word word word word word                  word word word word word
           word word word word word …                word word word word word …
           (399 characters)                          (399 characters)

experience          1                     2
──────────────────────────────────────────────────
company_name        Acme                  Globex
                    B3                    B3
end_date            2019-12-31
                    B3 (2019)
                    (day or month added)
currently_employed                        true
                                          B3 (now)

"""


def _people(door: FrontDoor) -> None:
    (door.folder / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    odd = candidate(2, First="Acme (2019);Globex (now)", Phone="0555 000 00 02", Salary="500", Permit="word " * 80)
    write_csv(door.folder / "people.csv", [candidate(1, Salary="Junior"), odd, candidate(3, Phone="call me")])


def test_a_check_shows_candidates(front_door: FrontDoor) -> None:
    """`check --show` shows candidates that will be sent, the odd ones first, each with the reason."""
    _people(front_door)
    ran = front_door("check", "people.csv", "--mapping", "mapping.yaml", "--sandbox", "--show", "1", COLUMNS="80")
    shown, _, _ = ran.out.partition("Checked")
    assert shown == TABLE


def test_candidates_as_json(front_door: FrontDoor) -> None:
    """With --json the candidates are part of the one object on stdout, not shortened."""
    _people(front_door)
    ran = front_door("check", "people.csv", "--mapping", "mapping.yaml", "--sandbox", "--show", "5", "--json")
    odd, other = ran.summary["candidates"]
    assert [odd["row"], other["row"]] == [3, 2]
    assert other["why"] == ""
    assert odd["answers"][6] == {
        "cell": "G3",
        "column": "Salary",
        "text": "500",
        "question": "level",
        "sent": "Junior",
        "note": "by `otherwise`",
    }


def test_a_candidate_that_is_already_imported_is_not_shown(front_door: FrontDoor) -> None:
    """Only candidates that the next run would send are shown."""
    _people(front_door)
    command = ("people.csv", "--mapping", "mapping.yaml", "--sandbox")
    front_door("run", *command, "--rows", "3")
    ran = front_door("check", *command, "--show", "5", "--json")
    assert [one["row"] for one in ran.summary["candidates"]] == [2]


def test_a_mapping_is_shown_at_work(front_door: FrontDoor) -> None:
    """`mapping check` and `mapping new` show candidates where asked, and none in a log, which would keep them."""
    _people(front_door)
    command = ("mapping", "check", "mapping.yaml", "people.csv", "--sandbox")
    assert front_door(*command, "--show", "1", COLUMNS="80").out.endswith(TABLE)
    assert "person1@example.com" not in front_door(*command).out
    write_csv(front_door.folder / "plain.csv", [candidate(1), candidate(2)])
    new = ("mapping", "new", "plain.csv", "--job-post", "4f2c9a", "--sandbox", "--to", "new.yaml", "--force")
    assert "person1@example.com" in front_door(*new, "--show", "1", COLUMNS="80").out
    assert front_door(*new).out == ""
