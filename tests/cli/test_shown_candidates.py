"""A candidate is shown as it would be sent, each source cell beside its answer."""

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
cell       is read as                  question      answer
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


def test_a_candidate_of_a_check_is_shown_as_it_would_be_sent(front_door: FrontDoor) -> None:
    """Long texts are cut; what happened between cell and answer is noted; entries stand side by side."""
    (front_door.folder / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    odd = candidate(2, First="Acme (2019);Globex (now)", Phone="0555 000 00 02", Salary="500", Permit="word " * 80)
    write_csv(front_door.folder / "people.csv", [candidate(1, Salary="Junior"), odd, candidate(3, Phone="call me")])
    checked = front_door("check", "people.csv", "--mapping", "mapping.yaml", "--sandbox")
    assert checked.code == 4
    assert TABLE in front_door("show", "--row", "3", COLUMNS="80").out
