"""A mapping file for another reading of its file, or for another target: what a person changed in it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from importer.mapping import scalar
from importer.models import Question, Target
from importer.suggest.mapping_text import MappingText
from importer.suggest.proposal import Proposal, candidate_goals
from importer.suggest.yaml_writer import question_key, write_proposal
from importer.text.normalize import normalize

_READING: Final = ("sheet", "header_row", "header_rows", "skip_rows", "stop_at", "encoding", "delimiter")
_MERGED: Final = ("source", "defaults", "candidate", "answers")


def refitted(text: str, proposed: str | None, proposal: Proposal) -> str:
    """The mapping file for what is proposed now. proposed: the proposal that it began with, None if it was opened.

    What is as it was proposed then, is as it is proposed now; everything else stays. Answers to questions that are not
    asked now are kept as comments, and become answers again when they are asked again.
    """
    now = write_proposal(proposal)
    if text == proposed:
        return now
    mine, theirs = MappingText(text), MappingText(now)
    base = MappingText(proposed) if proposed is not None else None
    is_same_target = mine.top("target") == theirs.top("target")
    if not is_same_target:
        mine = _of_target(mine, proposal.target)
    mine = _asked_again(mine, proposal)
    for section, name in _names(mine, theirs):
        own, new = mine.values(section).get(name), theirs.values(section).get(name)
        is_reading = section == "source" and name in _READING
        is_unseen = section == "answers" and own is None and base is None and not is_same_target
        is_untouched = base is not None and own == base.values(section).get(name)
        if own != new and (is_reading or is_unseen or is_untouched):
            mine = (
                mine.put(section, name, theirs.written(section, name)) if new is not None else mine.drop(section, name)
            )
            mine = mine.forget(name, ())
    return _not_asked(mine, proposal, is_same_target=is_same_target).text


def _of_target(mine: MappingText, target: Target) -> MappingText:
    return mine.put_section("target", [f"target: {{{target.key}: {scalar(target.id)}}}"])


def _names(mine: MappingText, theirs: MappingText) -> Iterator[tuple[str, str]]:
    for section in _MERGED:
        yield from ((section, name) for name in dict.fromkeys((*mine.values(section), *theirs.values(section))))


def _asked_again(mine: MappingText, proposal: Proposal) -> MappingText:
    for section in ("candidate", "answers"):
        for name in mine.aside(section):
            is_known = not name.startswith("id:") and _is_asked(section, name, proposal)
            if is_known and name not in mine.values(section):
                mine = mine.bring_back(section, name)
    return mine


def _not_asked(mine: MappingText, proposal: Proposal, *, is_same_target: bool) -> MappingText:
    """With comments in place of answers that nothing asks for; IDs of questions are those of one job post."""
    for section in ("candidate", "answers"):
        for name in mine.values(section):
            is_of_other = not is_same_target and section == "answers" and name.startswith("id:")
            if is_of_other or not _is_asked(section, name, proposal):
                mine = mine.set_aside(section, name)
    return mine


def _is_asked(section: str, name: str, proposal: Proposal) -> bool:
    if section == "candidate":
        return name in {goal.name for goal in candidate_goals(proposal.target)}
    return normalize(name) in set(_question_names(proposal.questions))


def _question_names(questions: Sequence[Question]) -> Iterator[str]:
    for one in questions:
        yield from map(normalize, (one.key or "", question_key(one), f"text: {one.text}", f"id: {one.id}"))
