"""Proposes the entries of education and experience questions from the column groups of a header."""

from __future__ import annotations

from dataclasses import replace

from importer.mapping import PLACEHOLDER, EntryKind, Kind, spec_of_entry
from importer.suggest.child_sheets import ChildEntries
from importer.suggest.column_groups import EntryColumns, EntryGroups
from importer.suggest.column_names import ColumnNames
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.fitness import doubt_about
from importer.suggest.proposal import ProposedChild, ProposedEntries, ProposedField, ProposedValue, Setting
from importer.suggest.sampled import SampledColumn
from importer.suggest.value_kinds import ValueKinds
from importer.suggest.value_settings import Reading, form_settings, reading_of, unread_remark
from importer.suggest.views import ColumnView
from importer.text.ranges import range_pieces

RANGE = "range"
_RANGES = 0.6  # of the cells
_ENDS = frozenset({"start_date", "end_date"})
_ORDER = {
    EntryKind.EDUCATION: ("school_name", "degree", "major", "start_date", "end_date", "currently_pursuing"),
    EntryKind.EXPERIENCE: (
        "company_name", "position_title", "employment_type", "start_date", "end_date", "currently_employed",
    ),
}  # fmt: skip


def entries_of(groups: EntryGroups, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries with the keys that their values need; start and end dates share their formats."""
    by_field = {field.field: field for field in groups.fields}
    found = {name: _value(by_field[name], groups, names, day_first) for name in _ORDER[groups.kind] if name in by_field}
    if RANGE in by_field and not found.keys() & _ENDS:
        found |= _range_values(by_field[RANGE], names, day_first)
    fields = tuple(ProposedField(name, found[name]) for name in _ORDER[groups.kind] if name in found)
    return ProposedEntries(groups.kind, fields, groups.numbered, groups.first_unnumbered)


def entries_of_child(child: ChildEntries, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries of another sheet. `names` are those of the main one."""
    there = ColumnNames([sampled.column for sampled in child.sheet.columns])
    entries = entries_of(child.groups, there, day_first)
    join = ProposedChild(child.sheet.name, there.of(child.key.column), names.of(child.equals.column))
    doubt = "" if child.found == 1 else f"{child.found:.0%} of the keys of that sheet are found in this one"
    return replace(entries, child=join, doubt=doubt)


def _range_values(field: EntryColumns, names: ColumnNames, day_first: bool | None) -> dict[str, ProposedValue]:
    """Start and end of a range in one cell; nothing where the values do not look like ranges."""
    together = _together(field.views)
    split = [(range_pieces(text), count) for text, count in together.values]
    sides = [(pieces, count) for pieces, count in split if len(pieces) == 2]
    if sum(count for _, count in sides) < _RANGES * together.total or not sides:
        return {}
    forms = date_forms([(piece, count) for pieces, count in sides for piece in pieces if piece], day_first)
    return {
        name: ProposedValue(
            names=(_name_of(field, names),),
            taken=tuple(seen.column for seen in field.views),
            settings=(Setting("part", part), *reading.settings),
            doubt=reading.doubt or field.doubt,
            remark=reading.remark,
        )
        for name, part, reading in (
            ("start_date", "start", _reading_of_forms(forms, "start_date")),
            ("end_date", "end", _reading_of_forms(forms, "end_date")),
        )
    }


def _name_of(field: EntryColumns, names: ColumnNames) -> str:
    return field.template if PLACEHOLDER in field.template else names.of(field.views[0].column)


def _value(field: EntryColumns, groups: EntryGroups, names: ColumnNames, day_first: bool | None) -> ProposedValue:
    wanted = spec_of_entry(field.kind, field.field)
    together = _together(field.views)
    reading = (
        _date_reading(field, groups, day_first)
        if wanted.kind is Kind.DATE
        else reading_of(wanted, [together], day_first)
    )
    doubt = "" if wanted.kind is Kind.DATE and not reading.doubt else doubt_about(wanted, together)
    return ProposedValue(
        names=(_name_of(field, names),),
        taken=tuple(seen.column for seen in field.views),
        settings=reading.settings,
        table=reading.table,
        doubt=reading.doubt or doubt or field.doubt,
        remark=reading.remark,
    )


def _together(views: tuple[ColumnView, ...]) -> ValueKinds:
    """The columns of one field as if they were one."""
    values = tuple(pair for seen in views for pair in seen.sampled.values)
    return ValueKinds(SampledColumn(views[0].column, values, sum(seen.sampled.filled for seen in views)))


def _date_reading(field: EntryColumns, groups: EntryGroups, day_first: bool | None) -> Reading:
    dated = [other for other in groups.fields if other.field in ("start_date", "end_date")]
    values = [pair for other in dated for pair in _together(other.views).values]
    return _reading_of_forms(date_forms(values, day_first), field.field)


def _reading_of_forms(forms: DateForms, field: str) -> Reading:
    edge = "first" if field == "start_date" else "last"
    settings, remarks = form_settings(forms), list[str]()
    if forms.lacks_month:
        settings.append(Setting("missing_month", edge))
        remarks.append(f"a year alone means its {'January' if edge == 'first' else 'December'}")
    if forms.lacks_day:
        settings.append(Setting("missing_day", edge))
        remarks.append(f"a month alone means its {edge} day")
    if field == "end_date" and forms.open_ends:
        settings.append(Setting("present", forms.open_ends))
    if forms.unread:
        remarks.append(unread_remark("no date", forms.unread))
    doubt = forms.unsure or ("" if forms.share >= 0.6 or not forms.seen else f"only {forms.share:.0%} look like a date")
    return Reading(tuple(settings), doubt=doubt, remark="; ".join(remarks))
