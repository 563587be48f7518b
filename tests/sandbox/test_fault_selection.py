"""Fault selection: the same requests get the same faults, whatever their order."""

from __future__ import annotations

import random

import pytest

from importer.sandbox.faults import Fault, FaultSelector, Hit

PEOPLE = [f"person{number}@example.com" for number in range(400)]


def hits(selector: FaultSelector, email: str) -> list[Hit]:
    return selector.select("apply", "4f2c9a", email)


def hit(selector: FaultSelector, email: str) -> bool:
    return bool(hits(selector, email))


def test_a_share_hits_the_same_people_in_any_order() -> None:
    """With one seed, the people who are hit do not depend on the order of requests."""
    shuffled = PEOPLE.copy()
    random.Random(3).shuffle(shuffled)
    fault = Fault(kind="500", share=0.1)
    one, other = FaultSelector([fault], 7), FaultSelector([fault], 7)
    first = {email for email in PEOPLE if hit(one, email)}
    assert {email for email in shuffled if hit(other, email)} == first
    assert 20 <= len(first) <= 65


def test_another_seed_hits_other_people() -> None:
    """The seed decides who is hit."""
    fault = Fault(kind="500", share=0.1)
    drawn = [[hit(FaultSelector([fault], seed), email) for email in PEOPLE] for seed in (7, 8)]
    assert drawn[0] != drawn[1]


def test_two_faults_draw_independently() -> None:
    """Two faults with the same share do not always hit the same people."""
    selector = FaultSelector([Fault(kind="500", share=0.5), Fault(kind="reset", share=0.5)], 7)
    assert {len(hits(selector, email)) for email in PEOPLE} == {0, 1, 2}


def test_each_attempt_draws_again() -> None:
    """A person who is not hit at first may be hit at the next attempt."""
    selector = FaultSelector([Fault(kind="500", share=0.5)], 7)
    spared = [email for email in PEOPLE if not hit(selector, email)]
    again = [hit(selector, email) for email in spared]
    assert True in again
    assert False in again


@pytest.mark.parametrize("times", [1, 2, 3])
def test_times_limits_how_often_one_person_is_hit(times: int) -> None:
    """A person is hit `times` times and then succeeds, whatever the letter case of the address."""
    selector = FaultSelector([Fault(kind="500", share=1, times=times)], 7)
    spellings = ["a@example.com", "A@example.com"] * 3
    assert [hit(selector, email) for email in spellings] == [True] * times + [False] * (6 - times)


SELECTIONS = [
    pytest.param(Fault(kind="500", first=2), [True, True, False, False, False, False], id="first"),
    pytest.param(Fault(kind="500", every=3), [False, False, True, False, False, True], id="every"),
    pytest.param(Fault(kind="500", emails=[PEOPLE[4]]), [False, False, False, False, True, False], id="emails"),
]


@pytest.mark.parametrize(("fault", "expected"), SELECTIONS)
def test_other_selectors(fault: Fault, expected: list[bool]) -> None:
    """The first N requests, every Nth, or certain people."""
    selector = FaultSelector([fault], 7)
    assert [hit(selector, email) for email in PEOPLE[:6]] == expected


def test_only_requests_that_can_be_hit_are_counted() -> None:
    """A retry beyond `times` does not count as one of the first N."""
    selector = FaultSelector([Fault(kind="500", first=2)], 7)
    assert [hit(selector, email) for email in ("a@example.com", "a@example.com", "b@example.com")] == [
        True,
        False,
        True,
    ]


def test_another_operation_is_neither_hit_nor_counted() -> None:
    """A fault for pools ignores applications."""
    selector = FaultSelector([Fault(kind="500", first=1, operation="add-candidate")], 7)
    assert not hit(selector, "a@example.com")
    assert selector.select("add-candidate", "4f2c9a", "a@example.com")
