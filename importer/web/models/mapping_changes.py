"""Changes of a mapping file, one value at a time; each gives the text of the file after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from importer.mapping import ENTRY_FIELDS, EntryKind, FromRow, ResolvedValue, Surname, scalar
from importer.problems import UsageError
from importer.suggest import (
    CannotChange,
    Goal,
    MappingText,
    date_settings,
    likely_full_names,
    propose_value,
    write_value,
)
from importer.web.models.file_sample import Sample
from importer.web.models.readable_mapping import ReadableMapping


class MappingChanges:
    """What can be changed of a mapping file. goals: what can be answered, by ID; readable: the file as it is now."""

    def __init__(
        self, mapping: MappingText, goals: Mapping[str, Goal], readable: ReadableMapping, sample: Sample
    ) -> None:
        self._mapping, self._goals, self._readable, self._sample = mapping, goals, readable, sample

    def use(self, id: str, columns: Sequence[str], joined: str | None = None) -> str:
        """The text with these columns for a value, and the settings that their cells need."""
        section, name = id.split("/", 1)
        goal, views = self._goals.get(id), [self._sample.view(one) for one in columns]
        if goal is None or not all(views) or not views:
            raise UsageError("choose a column of the file")
        chosen = [one for one in views if one is not None]
        full = likely_full_names(self._sample.columns)
        is_full = full is not None and [one.column.index for one in chosen] == [full.column.index]
        part = name.partition("_")[0] if is_full and name in ("first_name", "last_name") else None
        value = propose_value(goal, chosen, self._sample.columns, self._sample.day_first, joined, part)
        names = [self._sample.names.of(one.column) for one in chosen]
        put = self._mapping.put(section, name, write_value(name, value))
        return put.forget(name, names).text

    def accept(self, id: str) -> str:
        """The text without the notes that ask to check a value."""
        return self._mapping.confirm(*id.split("/", 1)).text

    def constant(self, id: str, value: str) -> str:
        """The text with the same value for every row."""
        section, name = id.split("/", 1)
        return self._mapping.put(section, name, [f"{scalar(name)}: {{value: {scalar(value)}}}"]).forget(name, ()).text

    def leave_out(self, id: str) -> str:
        """The text without a value."""
        return self._mapping.drop(*id.split("/", 1)).text

    def set(self, id: str, keys: Mapping[str, Any], lists: Sequence[str] = ()) -> str:
        """The text with other keys of a value; None removes one. lists: those that are words as they are typed."""
        section, name = id.split("/", 1)
        written = self._mapping.values(section).get(name)
        before = written if isinstance(written, dict) else {}
        changed = {key: new for key, new in keys.items() if not is_as_shown(shown_words(new or ""), before.get(key))}
        words = {key: typed_words(changed[key] or "", before.get(key)) or None for key in lists if key in changed}
        return self._mapping.change(section, name, changed | words).text

    @property
    def rows(self) -> dict[str, str]:
        """Which rows are candidates, as a form shows it. where, is_not, words: of the filter; group_by: the column
        whose equal cells make rows one candidate."""
        source = self._mapping.values("source")
        where, grouping = source.get("where") or {}, source.get("group_by", "")
        return {
            "where": self._name_of(where.get("column", "")),
            "is_not": "is_not" if "is_not" in where else "",
            "words": shown_words(where.get("is") or where.get("is_not") or ()),
            "group_by": self._name_of(grouping.get("column", "") if isinstance(grouping, dict) else grouping),
        }

    def _name_of(self, column: str) -> str:
        """The column of the file that the mapping names, whose name it may spell in another way."""
        view = self._sample.view(column) if column else None
        return self._sample.names.of(view.column) if view else column

    def choose_rows(self, given: Mapping[str, str]) -> str:
        """The text with other values of `rows`; what is as before stays as it is written."""
        mapping = self._mapping
        changed = {key for key, shown in self.rows.items() if not is_as_shown(given[key], shown)}
        if changed - {"group_by"}:
            where = mapping.values("source").get("where") or {}
            words = typed_words(given["words"], where.get("is") or where.get("is_not") or "")
            column = self._name_of(given["where"]) if "where" in changed else where.get("column")
            mapping = mapping.drop("source", "where")
            if column:
                mapping = mapping.change("source", "where", {"column": column, given["is_not"] or "is": words})
        if "group_by" in changed:
            mapping = mapping.drop("source", "group_by")
            if column := self._name_of(given["group_by"]):
                mapping = mapping.put("source", "group_by", [f"group_by: {scalar(column)}"])
        return mapping.text

    @property
    def names(self) -> dict[str, str]:
        """How full names are split, as a form shows it: surname, particles and suffixes."""
        found = self._mapping.values("defaults").get("names") or {}
        shown = {key: shown_words(found.get(key, "")) for key in ("surname", "particles", "suffixes")}
        return shown | {"surname": shown["surname"] or Surname.LAST_WORD}

    def split_names(self, given: Mapping[str, str]) -> str:
        """The text with another rule for all full names."""
        if given == self.names:
            return self._mapping.text
        before = self._mapping.values("defaults").get("names") or {}
        words = {key: typed_words(given[key], before.get(key, "")) or None for key in ("particles", "suffixes")}
        return self._mapping.change("defaults", "names", {"surname": given["surname"] or None, **words}).text

    def translate(
        self, id: str, options: Mapping[str, str | None], field: str = "", *, keeps_others: bool = False
    ) -> str:
        """The text with an option for each of these texts of cells; "" leaves it out, None takes it back. Others hold
        their rows back.

        field: of entries, the one that these texts are in, in all its groups of columns. keeps_others: the other texts
        of the column are read as they are, such as its dates.
        """

        def edit(value: dict[str, Any]) -> None:
            for one in _fields(value, field) if field else (value,):
                table = one.get("values")
                if isinstance(table, str) and table:
                    raise CannotChange("the value table is in a file of its own; change it there")
                meant = {**(table or {}), **options}
                one["values"] = {text: option for text, option in meant.items() if option is not None}
                if keeps_others:
                    one["otherwise"] = "keep"
                if not one["values"]:
                    del one["values"]
                    one.pop("otherwise", None)

        section, name = id.split("/", 1)
        return self._mapping.edit(section, name, edit).text

    # --- groups of columns of education or experience ---------------------------------------------

    def _with_groups(self, id: str, groups: Sequence[dict[str, Any]], kind: EntryKind) -> str:
        """The text with these groups in place of what was there."""
        section, name = id.split("/", 1)
        old = self._mapping.values(section).get(name)
        source = old.get(kind.value) if isinstance(old, dict) else None
        order = source.get("order") if isinstance(source, dict) else None
        keys = {kind.value: groups, **({"order": order} if order else {})}
        return self._mapping.change(section, name, keys).forget(name, ()).text

    def _groups(self, id: str) -> list[dict[str, Any]]:
        """The groups of an answer as they are written, each with its own columns."""
        if id not in self._readable.entries:
            return []
        if any(not isinstance(source.source, FromRow) for source in self._readable.entries[id].sources):
            raise CannotChange("these entries come from another table or one cell; change them in the mapping file")
        return [
            {field: self._written(value) for field, value in group.items()}
            for source in self._readable.entries[id].sources
            for group in source.groups
        ]

    def _written(self, value: ResolvedValue) -> Any:
        keys = _plain(value.spec.node)
        if value.columns:
            names = [self._sample.names.of(column) for column in value.columns]
            keys["join" if "join" in keys else "column"] = names[0] if len(names) == 1 else names
        return keys["column"] if set(keys) == {"column"} and isinstance(keys["column"], str) else keys

    def remove_group(self, id: str, index: int) -> str:
        """The text without a group of columns of education or experience; without the last one, the answer is gone."""
        groups = [group for number, group in enumerate(self._groups(id)) if number != index]
        return self._with_groups(id, groups, self._readable.entries[id].kind) if groups else self.leave_out(id)

    def add_group(self, id: str, kind: EntryKind, columns: Mapping[str, str]) -> str:
        """The text with one more group: the columns of its fields. They are read like those of the other groups, dates
        of a first one as their cells show.
        """
        groups = self._groups(id)
        views = {field: view for field, name in columns.items() if (view := self._sample.view(name)) is not None}
        settings = date_settings(views, self._sample.day_first) | {
            field: {key: one for key, one in value.items() if key not in ("column", "join", "with", "value")}
            for field, value in (groups[-1] if groups else {}).items()
            if isinstance(value, dict)
        }
        new = {
            field: {"column": name, **settings[field]} if settings.get(field) else name
            for field, name in columns.items()
        }
        return self._with_groups(id, [*groups, new], kind)

    def use_rows(
        self, id: str, kind: EntryKind, columns: Mapping[str, str], sheet: Mapping[str, str] | None = None
    ) -> str:
        """The text with an entry for each row of a candidate, of these columns by field; or for each row of another
        sheet, by its name, key and equals. Earlier ones are read as they were, dates of others as their cells show.
        """
        section, name = id.split("/", 1)
        old = self._mapping.values(section).get(name)
        source = old.get(kind.value) if isinstance(old, dict) else None
        before: dict[str, Any] = source if isinstance(source, dict) else {}
        if sheet is None:
            before = before if "rows" in before else {"rows": "all"}
        else:
            old_sheet = before.get("sheet")
            if isinstance(old_sheet, dict) and old_sheet.get("name") == sheet["name"]:
                before = {**before, "sheet": {**old_sheet, **sheet}}
            else:
                before = {"sheet": {**sheet}}
        there = self._sample.sheets.get(sheet["name"], {}).get if sheet else self._sample.view
        views = {field: view for field, column in columns.items() if (view := there(column)) is not None}
        settings = date_settings(views, self._sample.day_first)
        kept = {key: value for key, value in before.items() if key not in ENTRY_FIELDS[kind]}
        for field, column in columns.items():
            known = before.get(field)
            was = known.get("column") if isinstance(known, dict) else known
            new = {"column": column, **settings[field]} if settings.get(field) else column
            kept[field] = known if was == column else new
        return self._mapping.change(section, name, {kind.value: kept}).forget(name, ()).text


_BLANK = "(blank)"  # how a form shows the text of a blank cell


def shown_words(value: Any) -> str:
    """A text, or a list of texts, as a form shows it."""
    return "; ".join(word or _BLANK for word in value) if isinstance(value, list | tuple) else str(value)


def is_as_shown(typed: str, value: Any) -> bool:
    """Whether a field was sent as it was shown; a browser sends no line breaks."""
    return "".join(typed.splitlines()) == "".join(shown_words(value or "").splitlines())


def typed_words(text: str, before: Any = "") -> list[str]:
    """The words that were typed, with `;` between them. before: the text or list of the mapping; as shown, it stays.

    Raises UsageError: it has words that a form cannot show.
    """
    kept = list(before) if isinstance(before, list | tuple) else [before] if before else []
    if is_as_shown(text, before):
        return kept
    if _split(shown_words(before or "")) != kept:
        raise UsageError("a word of this list has ; or blanks at its ends: change the list in the mapping file")
    return _split(text)


def _split(text: str) -> list[str]:
    return ["" if word.strip() == _BLANK else word.strip() for word in text.split(";") if word.strip()]


def _plain(node: Any) -> Any:
    """A node of a mapping as texts, lists and dictionaries."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    return [_plain(one) for one in node] if isinstance(node, list) else str(node)


def _fields(value: dict[str, Any], field: str) -> Iterator[dict[str, Any]]:
    """A field of all entries of an answer, each with its keys."""
    for kind in EntryKind:
        sources = value.get(kind.value, ())
        for source in sources if isinstance(sources, list) else [sources]:
            if field in source:
                if not isinstance(source[field], dict):
                    source[field] = {"column": source[field]}
                yield source[field]
