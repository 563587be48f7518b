"""Proposes the entries of education and experience questions from the column groups of a header."""

from __future__ import annotations

from importer.mapping.model import PLACEHOLDER, EntryKind
from importer.mapping.resolved import Kind
from importer.mapping.suggest.column_groups import EntryColumns, EntryGroups
from importer.mapping.suggest.column_names import ColumnNames
from importer.mapping.suggest.date_forms import date_forms
from importer.mapping.suggest.fitness import doubt_about
from importer.mapping.suggest.proposal import ProposedEntries, ProposedField, ProposedValue, Setting
from importer.mapping.suggest.sampled import SampledColumn
from importer.mapping.suggest.value_kinds import ValueKinds
from importer.mapping.suggest.value_settings import Reading, reading_of, unread_remark
from importer.mapping.suggest.views import ColumnView
from importer.mapping.wanted import wanted_of_entry

_ORDER = {
    EntryKind.EDUCATION: ("school_name", "degree", "major", "start_date", "end_date", "currently_pursuing"),
    EntryKind.EXPERIENCE: (
        "company_name", "position_title", "employment_type", "start_date", "end_date", "currently_employed",
    ),
}  # fmt: skip


def entries_of(groups: EntryGroups, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries with the keys that their values need; start and end dates share their formats."""
    by_field = {field.field: field for field in groups.fields}
    fields = tuple(
        ProposedField(name, _value(by_field[name], groups, names, day_first))
        for name in _ORDER[groups.kind]
        if name in by_field
    )
    return ProposedEntries(groups.kind, fields, groups.numbered, groups.first_unnumbered)


def _value(field: EntryColumns, groups: EntryGroups, names: ColumnNames, day_first: bool | None) -> ProposedValue:
    wanted = wanted_of_entry(field.kind, field.field)
    together = _together(field.views)
    reading = (
        _date_reading(field, groups, day_first)
        if wanted.kind is Kind.DATE
        else reading_of(wanted, [together], day_first)
    )
    name = field.template if PLACEHOLDER in field.template else names.of(field.views[0].column)
    doubt = "" if wanted.kind is Kind.DATE and not reading.doubt else doubt_about(wanted, together)
    return ProposedValue(
        names=(name,),
        taken=tuple(seen.column for seen in field.views),
        settings=reading.settings,
        table=reading.table,
        doubt=reading.doubt or doubt,
        remark=reading.remark,
    )


def _together(views: tuple[ColumnView, ...]) -> ValueKinds:
    """The columns of one field as if they were one."""
    values = tuple(pair for seen in views for pair in seen.sampled.values)
    return ValueKinds(SampledColumn(views[0].column, values, sum(seen.sampled.filled for seen in views)))


def _date_reading(field: EntryColumns, groups: EntryGroups, day_first: bool | None) -> Reading:
    dated = [other for other in groups.fields if other.field in ("start_date", "end_date")]
    values = [pair for other in dated for pair in _together(other.views).values]
    forms = date_forms(values, day_first)
    edge = "first" if field.field == "start_date" else "last"
    settings, remarks = [], []
    if forms.formats:
        settings.append(Setting("dates", forms.formats))
    if forms.lacks_month:
        settings.append(Setting("missing_month", edge))
        remarks.append(f"a year alone means its {'January' if edge == 'first' else 'December'}")
    if forms.lacks_day:
        settings.append(Setting("missing_day", edge))
        remarks.append(f"a month alone means its {edge} day")
    if field.field == "end_date" and forms.open_ends:
        settings.append(Setting("present", forms.open_ends))
    if forms.unread:
        remarks.append(unread_remark("no date", forms.unread))
    doubt = forms.unsure or ("" if forms.share >= 0.6 or not values else f"only {forms.share:.0%} look like a date")
    return Reading(tuple(settings), doubt=doubt, remark="; ".join(remarks))
