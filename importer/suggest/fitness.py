"""Whether the values of a column are what a target wants; if not, why a person should look."""

from __future__ import annotations

from collections.abc import Callable

from importer.mapping import FieldSpec, Kind, Options
from importer.suggest.choice_tables import splitting_sign, table_of
from importer.suggest.value_kinds import ValueKinds
from importer.text.normalize import normalize

_ENOUGH = 0.6  # of the filled cells: exports are messy, and the rest is told row by row


def doubt_about(wanted: FieldSpec, kinds: ValueKinds) -> str:
    """Why the values do not look like what is wanted, "" where they do or where there are none to judge by."""
    if not kinds.sampled.filled:
        return ""
    if not kinds.total and wanted.kind not in (Kind.YES_NO, Kind.FLAG):
        return ""
    test = _TESTS.get(wanted.kind)
    if test is None:
        return ""
    share, noun = test(kinds, wanted)
    if wanted.kind in (Kind.CV, Kind.DOCUMENT) and kinds.files + kinds.urls > 0.3:
        return "the values look like files, and the service wants the ID of an uploaded document"
    return "" if share >= _ENOUGH else f"only {share:.0%} of the values look like {noun}"


def is_like(wanted: FieldSpec, kinds: ValueKinds) -> bool:
    """Whether the values themselves speak for it: there are some, and they are of the kind."""
    return bool(kinds.total) and not doubt_about(wanted, kinds)


def _names(kinds: ValueKinds, wanted: FieldSpec) -> tuple[float, str]:
    return 1 - max(kinds.digits, kinds.emails), "a name"


def _choice(kinds: ValueKinds, wanted: FieldSpec) -> tuple[float, str]:
    if not wanted.options:
        return 1.0, ""
    lines = {normalize(line.cell): line for line in table_of(kinds.values, wanted.options)}
    options = Options(wanted.options)
    found = kinds.share(lambda text: options.find(text) or ((line := lines.get(normalize(text))) and line.target))
    return found, wanted.noun.replace("option of", "an option of", 1)


def _choices(kinds: ValueKinds, wanted: FieldSpec) -> tuple[float, str]:
    if not wanted.options:
        return 1.0, ""
    sign = splitting_sign(kinds.values, wanted.options)
    options = Options(wanted.options)

    def holds_an_option(text: str) -> bool:
        return any(options.find(piece.strip()) for piece in (text.split(sign) if sign else [text]))

    return kinds.share(holds_an_option), f"options of {wanted.noun.removeprefix('option of ')}"


_TESTS: dict[Kind, Callable[[ValueKinds, FieldSpec], tuple[float, str]]] = {
    Kind.EMAIL: lambda kinds, _: (kinds.emails, "an e-mail address"),
    Kind.URL: lambda kinds, _: (kinds.urls, "a web address"),
    Kind.PHONE: lambda kinds, _: (kinds.phones, "a phone number"),
    Kind.DATE: lambda kinds, _: (kinds.dates.share, "a date"),
    Kind.INTEGER: lambda kinds, _: (kinds.whole_numbers, "a whole number"),
    Kind.DECIMAL: lambda kinds, _: (kinds.numbers, "a number"),
    Kind.YES_NO: lambda kinds, _: (kinds.yes_no, "yes or no"),
    Kind.FLAG: lambda kinds, _: (kinds.yes_no, "yes or no"),
    Kind.CV: lambda kinds, _: (kinds.documents, "a document ID"),
    Kind.DOCUMENT: lambda kinds, _: (kinds.documents, "a document ID"),
    Kind.NAME: _names,
    Kind.CHOICE: _choice,
    Kind.CHOICES: _choices,
}
