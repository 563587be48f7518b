"""A mapping file for another reading of its file, or for another target: what a person changed in it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from importer.mapping import scalar
from importer.models import Question
from importer.suggest.mapping_text import MappingText
from importer.suggest.proposal import Proposal, candidate_goals
from importer.suggest.yaml_writer import question_key, write_proposal
from importer.text.normalize import normalize

_READING: Final = ("sheet", "header_row", "header_rows", "skip_rows", "stop_at", "encoding", "delimiter")


def refitted(text: str, proposal: Proposal) -> str:
    """The mapping file for another reading or target: how the file is read, the target, and answers to new questions
    are those of the proposal; answers to questions that are not asked now are removed; everything else stays.
    """
    mine, theirs, target = MappingText(text), MappingText(write_proposal(proposal)), proposal.target
    is_same_target = mine.top("target") == theirs.top("target")
    mine = mine.put_section("target", [f"target: {{{target.key}: {scalar(target.id)}}}"])
    for section in ("candidate", "answers"):
        for name in mine.values(section):
            is_of_other = not is_same_target and name.startswith("id:")  # IDs of questions are those of one job post
            if is_of_other or not _is_asked(section, name, proposal):
                mine = mine.drop(section, name)
    own, new = mine.values("source"), theirs.values("source")
    if any(own.get(name) != new.get(name) for name in _READING):
        mine = _without_letters(mine, theirs)
    for name in _READING:
        if name in new:
            mine = mine.put("source", name, theirs.written("source", name))
        elif name in own:
            mine = mine.drop("source", name)
    for section in ("candidate", "answers") if not is_same_target else ():
        for name in theirs.values(section):
            if name not in mine.values(section):
                mine = mine.put(section, name, theirs.written(section, name)).forget(name, ())
    return mine.text


def _without_letters(mine: MappingText, theirs: MappingText) -> MappingText:
    """With the proposal in place of values that name columns by their letters: these may be other columns now."""
    for section in ("candidate", "answers"):
        for name, value in mine.values(section).items():
            if _has_letter(value):
                mine = mine.drop(section, name)
                if name in theirs.values(section):
                    mine = mine.put(section, name, theirs.written(section, name))
    return mine


def _has_letter(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_letter, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and value.startswith("=")


def _is_asked(section: str, name: str, proposal: Proposal) -> bool:
    if section == "candidate":
        return name in {goal.name for goal in candidate_goals(proposal.target)}
    return normalize(name) in set(_question_names(proposal.questions))


def _question_names(questions: Sequence[Question]) -> Iterator[str]:
    for one in questions:
        yield from map(normalize, (one.key or "", question_key(one), f"text: {one.text}", f"id: {one.id}"))
