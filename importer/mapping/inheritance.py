"""Lays a mapping file over the shared part that it extends."""

from __future__ import annotations

from pathlib import Path

from importer.errors import UnusableInput
from importer.mapping.findings import Findings
from importer.mapping.model import Text
from importer.mapping.nodes import MappingNode, Node, Pair, read_nodes
from importer.mapping.other_files import named_file
from importer.mapping.shape import read_filled, read_texts
from importer.models import Problem

# In these sections the file's own keys are laid over those of the shared part, one by one; all else is replaced whole.
LAID_OVER = ("source", "defaults", "candidate", "answers")
EXTENDS, WITHOUT = "extends", "without"
MAX_CHAIN = 20


def read_extended(path: Path, findings: Findings) -> Node:
    """The nodes of a mapping file, with those of the shared part that it extends, and that one's, below it.

    Raises:
        UnusableInput: a file cannot be read, lies elsewhere than the findings' folder, or extends itself in the end.
    """
    return _read(path, (), findings)


def _read(path: Path, above: tuple[Path, ...], findings: Findings) -> Node:
    node = read_nodes(path)
    if not isinstance(node, MappingNode):
        return node
    pairs = {pair.key.value: pair for pair in node.pairs}
    shared = read_filled(pairs[EXTENDS].value, EXTENDS, findings) if EXTENDS in pairs else None
    if shared is None:
        return _without(node, pairs, findings)
    base = named_file(shared, findings)
    if base is None:
        findings.refuse_mistakes()
        raise AssertionError("a shared part was refused without being told")
    chain = (*above, path.resolve())
    if len(chain) == MAX_CHAIN:
        message, hint = f"more than {MAX_CHAIN} files extend one another", "bring some of them together"
        raise UnusableInput(Problem("extends-deep", message, hint, shared.place))
    if base.resolve() in chain:
        message, hint = f"'{shared}' extends this file in turn", "take extends: out of one of them"
        raise UnusableInput(Problem("extends-itself", message, hint, shared.place))
    try:
        below = _read(base, chain, findings)
    except UnusableInput as error:
        if base.is_file():
            raise
        message, hint = f"there is no file '{shared}'", "name it from the folder of this mapping file"
        raise UnusableInput(Problem("extends-missing", message, hint, shared.place)) from error
    if not isinstance(below, MappingNode):
        return below
    return _without(_laid_over(node, below), pairs, findings)


def _laid_over(own: MappingNode, below: MappingNode) -> MappingNode:
    merged = {pair.key.value: pair for pair in below.pairs}
    for pair in own.pairs:
        name, under = pair.key.value, merged.get(pair.key.value)
        if name in LAID_OVER and under and isinstance(pair.value, MappingNode) and isinstance(under.value, MappingNode):
            merged[name] = Pair(pair.key, _replaced(pair.value, under.value))
        else:
            merged[name] = pair
    return MappingNode(tuple(merged.values()), own.place)


def _replaced(own: MappingNode, below: MappingNode) -> MappingNode:
    pairs = {pair.key.value: pair for pair in below.pairs} | {pair.key.value: pair for pair in own.pairs}
    return MappingNode(tuple(pairs.values()), own.place)


def _without(node: MappingNode, own: dict[str, Pair], findings: Findings) -> MappingNode:
    """The nodes without extends and without, and without the answers that the latter names."""
    unwanted = (read_texts(own[WITHOUT].value, WITHOUT, findings) if WITHOUT in own else None) or ()
    pairs = []
    for pair in node.pairs:
        if pair.key.value == "answers" and isinstance(pair.value, MappingNode):
            left = _reduced(pair.value, unwanted, findings)
            if left.pairs or not unwanted:  # a talent pool takes no answers, not even none
                pairs.append(Pair(pair.key, left))
        elif pair.key.value not in (EXTENDS, WITHOUT):
            pairs.append(pair)
    return MappingNode(tuple(pairs), node.place)


def _reduced(answers: MappingNode, unwanted: tuple[Text, ...], findings: Findings) -> MappingNode:
    known = {pair.key.value for pair in answers.pairs}
    for text in unwanted:
        if text.value not in known:
            message = f"the shared part has no answer '{text}'"
            findings.mistake("without-unknown", message, "take it out of without:", text.place)
    names = {text.value for text in unwanted}
    return MappingNode(tuple(pair for pair in answers.pairs if pair.key.value not in names), answers.place)
