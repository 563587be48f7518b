"""The files in a folder or a .zip: listed once, found by their names, and each of them looked into once.

Documents are read where they lie and copied nowhere. Only files that were listed are opened, so a name in a cell cannot
lead outside.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import accumulate, islice, takewhile
from pathlib import Path
from typing import IO, Final, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile, ZipInfo

from importer.documents.contents import MOST_BYTES, UNREADABLE, Contents, look_into, reason_of
from importer.text.normalize import mistyped, normalize


class Several(StrEnum):
    """Which file is the document if several have the name."""

    ERROR = "error"
    NEWEST = "newest"
    LARGEST = "largest"


MOST_FILES: Final = 200_000
_MOST_NEAR: Final = 5_000  # files among which a similar name is looked for
_JUNK: Final = re.compile(r"(?:^|/)(?:__MACOSX|\.(?!\.?(?:/|$))[^/]*|Thumbs\.db|desktop\.ini)(?:/|$)", re.IGNORECASE)
_ENDING: Final = re.compile(r"(?=.*[a-z])[a-z0-9]{1,5}", re.IGNORECASE)
_NO_TEXT: Final = ("pdf", "docx", "jpg", "jpeg", "png")  # endings
_MANY: Final = 20  # files in one folder: it is not that of one person
_UNICODE_NAME, _ENCRYPTED = 0x800, 0x1  # flags of a .zip
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # it may be a pipe by now


class Pending(NamedTuple):
    """A document that is uploaded before its row is sent: what stands for its ID until then."""

    text: str


class NotFound(NamedTuple):
    """Why a text names no document: the code of the problem, what is wrong, and what to do."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file: its path in the folder with /, its size in bytes, when it was changed (seconds since 1970).

    member: its name in the .zip as it is stored there. refused: why it is not read; "" if it is.
    """

    path: str
    size: int
    changed_at: float
    member: str = ""
    refused: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class _Lines:
    """Texts that are searched at once: a pattern over each of 5,000 names, for 5,000 rows, takes half a minute."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._text = "\n".join(lines)
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def with_text(self, wanted: str) -> list[int]:
        """The indexes of the lines that have a text."""
        found, at = list[int](), self._text.find(wanted) if wanted else -1
        while at >= 0:
            line = bisect_right(self._starts, at) - 1
            found.append(line)
            at = self._text.find(wanted, self._starts[line + 1])
        return found


class DocumentFolder:
    """The files of one folder or .zip, and what is known of them. Can be handed to another process.

    shown_as: its name in messages. ids: the document IDs that are known, by the SHA-256 of a file; listed_as: the files
    that the list of a person names beside that SHA-256. most: of its files.

    Raises UNREADABLE: it cannot be listed.
    """

    def __init__(
        self,
        path: Path,
        shown_as: str,
        ids: Mapping[str, str] | None = None,
        listed_as: Mapping[str, frozenset[str]] | None = None,
        *,
        most: int = MOST_FILES,
    ) -> None:
        self.path, self.shown_as, self.ids, self._most = path, shown_as, dict(ids or {}), most
        self._listed_as = dict(listed_as or {})
        self.contents: dict[str, Contents] = {}  # by path, of files that rows name
        self.sha256s: dict[str, str] = {}  # the paths of these files, by their SHA-256
        self.users: dict[str, dict[str, int]] = {}  # by path: each person whose document it is, with the first row
        self.invents_ids = False  # for a document without one, in the sandbox
        self.placeholder = ""  # of the ID of one that is uploaded: before its SHA-256; "": none is
        self.most_bytes = MOST_BYTES
        self.kinds: tuple[str, ...] = ()  # that are uploaded; (): all
        self.refused: dict[str, NotFound] = {}  # by the service, by SHA-256
        self.noted_for: tuple[str, int] | None = None  # while rows are only looked at: a person, and the row
        self.shows_paths = False  # in place of IDs, for a person
        if not path.is_dir() and path.exists() and not path.is_file():
            raise OSError(0, "it is neither a folder nor a .zip")
        listed = self._in_folder() if path.is_dir() else self._in_zip()
        self._listed = list({file.path: file for file in sorted(listed, key=lambda file: file.path)}.values())
        self.files = {file.path: file for file in self._listed if not file.refused}
        self._by_name: dict[str, list[DocumentFile]] = defaultdict(list)
        self._by_stem: dict[str, list[DocumentFile]] = defaultdict(list)
        for file in self._listed:
            self._by_name[normalize(file.name)].append(file)
            if _ENDING.fullmatch(file.name.rpartition(".")[2]):  # 1.5 is no file named 1
                self._by_stem[normalize(file.name.rpartition(".")[0])].append(file)
        self._names = _Lines([normalize(file.name) for file in self._listed])
        self._paths = _Lines([normalize(file.path) for file in self._listed])
        self._wrapper = self._folders_around(path)

    def _folders_around(self, path: Path) -> int:
        """How many folders are around all files and are of nobody: named like the .zip, or with very many files."""
        folders = sorted(path.split("/")[:-1] for path in self.files)
        ends = zip(*folders[:1], *folders[-1:], strict=False)  # what the first and the last have, all have
        shared = [one for one, *_ in takewhile(lambda pair: pair[0] == pair[-1], ends)]
        is_packed = bool(shared) and normalize(shared[-1]) == normalize(path.stem)
        return len(shared) if is_packed or len(folders) >= _MANY else 0

    # --- listing ---

    def _in_folder(self) -> Iterator[DocumentFile]:
        count = 0
        for parent, folders, names in os.walk(self.path, onerror=_raise):
            folders.sort()
            for name in (*names, *(each for each in folders if Path(parent, each).is_symlink())):
                path = Path(parent, name).relative_to(self.path).as_posix()
                found = os.lstat(Path(parent, name))
                count += 1
                if count > self._most:
                    raise OSError(0, f"it has more than {self._most:,} files")
                if not _JUNK.search(path):
                    refused = "" if stat.S_ISREG(found.st_mode) else "is a link, or no regular file"
                    yield DocumentFile(path, found.st_size, found.st_mtime, refused=refused)

    def _in_zip(self) -> Iterator[DocumentFile]:
        with ZipFile(self.path) as archive:
            members = archive.infolist()
            if len(members) > self._most:
                raise BadZipFile(f"it has more than {self._most:,} files")
            paths = [_name_of(info).replace("\\", "/") for info in members]
            times = Counter(paths)
            for info, path in zip(members, paths, strict=True):
                if info.is_dir() or _JUNK.search(path):
                    continue
                refused = "is in the archive twice" if times[path] > 1 else ""
                if ".." in path.split("/") or path.startswith("/"):
                    refused = "has a name that leads outside the archive"
                elif stat.S_ISLNK(info.external_attr >> 16):
                    refused = "is a link"
                elif info.flag_bits & _ENCRYPTED:
                    refused = "is protected by a password"
                yield DocumentFile(path, info.file_size, _changed_at(info), info.filename, refused)

    # --- finding ---

    def find(self, text: str, *, is_pattern: bool = False, several: Several = Several.ERROR) -> DocumentFile | NotFound:
        """The file that a text names: a path, a name with or without its ending; or a pattern.

        Paths of another machine count by their last parts. An exact name is taken before one that differs in case or
        Unicode form. In a pattern, * stands for any text, and texts of cells are between two NUL characters: they
        match only as whole words, so that 7 is not found in 17.pdf.
        """
        shown = text.replace("\0", "")
        found = self._matching(text) if is_pattern else self._named(_path_of(text))
        if len(found) == 1:
            return self._readable(found[0])
        if not found:
            return self._missing(shown)
        if several is Several.ERROR:
            message = f"{len(found)} files in {self.shown_as} match '{shown}': {listed(one.path for one in found)}"
            hint = "set several: newest or several: largest in the mapping"
            hint = hint if is_pattern else f"write which one it is, like {found[0].path}; or {hint}"
            return NotFound("document-ambiguous", message, hint)
        values = {file.path: file.changed_at if several is Several.NEWEST else file.size for file in found}
        best = [file for file in found if values[file.path] == max(values.values())]
        if len(best) == 1:
            return self._readable(best[0])
        message = f"{len(best)} files in {self.shown_as} match '{shown}', and none of them is the {several}"
        return NotFound("document-ambiguous", message, "write which one it is")

    def _readable(self, file: DocumentFile) -> DocumentFile | NotFound:
        """The file itself. One that is not read is what a row names all the same: no other file is taken instead."""
        if not file.refused:
            return file
        message = f"'{file.path}' in {self.shown_as} {file.refused}, and is not read"
        return NotFound("document-unusable", message, "replace it with the file itself")

    def _named(self, wanted: str) -> list[DocumentFile]:
        parts = [part for part in wanted.split("/") if part not in ("", ".")]
        if not parts:
            return []
        last, whole = normalize(parts[-1]), "/".join(parts)
        if same := [file for file in self._by_name.get(last, []) if file.path == whole]:
            return same
        candidates = self._by_name.get(last) or self._by_stem.get(last) or []
        depth = {file.path: _common_parts(file.path.split("/")[:-1], parts[:-1]) for file in candidates}
        if len(parts) > 1:  # in a folder of its own, a file may be that of another person
            candidates = [file for file in candidates if depth[file.path] >= self._provable(file, len(parts) - 1)]
        deepest = [file for file in candidates if depth[file.path] == max(depth.values())]
        exact = [file for file in deepest if file.name == parts[-1]]
        return exact or deepest

    def _provable(self, file: DocumentFile, folders: int) -> int:
        """How many folders of a file must be the same as in a cell, which has so many."""
        return min(folders, max(file.path.count("/") - self._wrapper, 0))

    def _matching(self, pattern: str) -> list[DocumentFile]:
        pieces = pattern.split("\0")  # texts of the mapping and of cells in turn
        if "*" not in "".join(pieces[::2]) and "/" not in pattern:
            return self._named("".join(pieces))
        regex = _regex(pieces, normalize)
        lines = self._paths if "/" in pattern else self._names
        rows = lines.with_text(max(map(normalize, pieces[1::2]), key=len))
        found = [self._listed[at] for at in rows if re.fullmatch(regex, lines.lines[at])]
        if len(found) > 1:
            exact = _regex(pieces, str)
            found = [one for one in found if re.fullmatch(exact, one.path if "/" in pattern else one.name)] or found
        return found

    def _missing(self, shown: str) -> NotFound:
        name = shown.replace("\\", "/").rpartition("/")[2]
        hint = "put the file there, or correct the cell"
        if len(elsewhere := self._by_name.get(normalize(name), [])) == 1:
            hint = f"'{elsewhere[0].path}' is in another folder: write this into the cell if it is this person's"
        elif near := self._similar(name):
            hint = f"did you mean '{near}'? {hint}"
        return NotFound("document-missing", f"there is no file '{shown}' in {self.shown_as}", hint)

    def _similar(self, name: str) -> str | None:
        """A file of nobody whose name differs by a typing error: another proposal would be a wrong document."""
        of_nobody = [file.name for file in self.unused]
        return mistyped(name, of_nobody) if len(self.files) <= _MOST_NEAR else None

    # --- what is known of them ---

    def look_into_named(self) -> None:
        """Look into each file that rows name: its size, its kind, its SHA-256."""
        named = [self.files[path] for path in self.users if path not in self.contents]
        with self._opened() as open_file:
            for file in named:
                self.contents[file.path] = look_into(lambda file=file: open_file(file))  # type: ignore[misc]
        self.sha256s = {one.sha256: path for path, one in self.contents.items() if not one.problem}

    @contextmanager
    def _opened(self) -> Iterator[Callable[[DocumentFile], IO[bytes]]]:
        with ExitStack() as opened:
            if self.path.is_dir():

                def open_file(file: DocumentFile) -> IO[bytes]:
                    found = os.fdopen(os.open(self.path / file.path, _READ), "rb")
                    if not stat.S_ISREG(os.fstat(found.fileno()).st_mode):
                        found.close()
                        raise OSError(0, "it is not a regular file")
                    return found

            else:
                archive = opened.enter_context(ZipFile(self.path))

                def open_file(file: DocumentFile) -> IO[bytes]:
                    return archive.open(file.member)

            yield open_file

    def document_of(self, text: str, *, is_pattern: bool, several: Several) -> str | Pending | NotFound:
        """The ID of the document that a text names, or why there is none."""
        file = self.find(text, is_pattern=is_pattern, several=several)
        if isinstance(file, NotFound):
            return file
        if self.shows_paths:
            return Pending(f"{self.shown_as.rstrip('/')}/{file.path}")
        if self.noted_for is not None:
            person, row = self.noted_for
            self.users.setdefault(file.path, {}).setdefault(person, row)
            return "1"
        contents, where = self.contents.get(file.path), f"'{file.path}' in {self.shown_as}"
        if contents is None:
            return NotFound("document-unusable", f"{where} was not looked into", "run the command again")
        if self.placeholder and contents.size > self.most_bytes:
            message = f"{where} is larger than {self.most_bytes // 1024 // 1024} MB"
            return NotFound("document-unusable", message, "replace it with a smaller file, or raise document_megabytes")
        problem = contents.problem or self._problem_of_kind(file, contents.kind)
        if problem:
            return NotFound("document-unusable", f"{where} {problem}", "replace it with the right file")
        if len(users := self.users.get(file.path, {})) > 1:
            message = f"{where} is the document of {len(users)} people (rows {listed(users.values())})"
            return NotFound("document-shared", message, "give each of them a file of their own")
        if (other := self._of_another(file, contents.sha256)) is not None:
            message = f"{where} has the SHA-256 that the list of document IDs gives for '{other}', another file"
            hint = "its columns were mixed up: rename it, write a new list with importer documents list, and fill it in"
            return NotFound("document-ids-invalid", message, hint)
        found = self.ids.get(contents.sha256)
        if found is None and contents.sha256 in self.refused:
            return self.refused[contents.sha256]
        if found is None and self.placeholder:
            return Pending(f"{self.placeholder}{contents.sha256}")
        if found is None and self.invents_ids:
            return str(int(contents.sha256[:12], 16))
        if found is None:
            hint = "run importer documents list, upload the files, and fill in their IDs in documents.csv"
            return NotFound("document-without-id", f"{where} has no document ID yet", hint)
        return found

    def _problem_of_kind(self, file: DocumentFile, kind: str) -> str:
        """Why the service does not take a file of this kind, or the file is another one than its name says."""
        ending = file.name.rpartition(".")[2].lower()
        if kind == "txt" and ending in _NO_TEXT:
            return f"is a text, although its name ends with .{ending}"
        if not (self.placeholder and self.kinds) or kind in self.kinds:
            return ""
        return f"is of the kind {kind}, and the service takes {', '.join(self.kinds)} (upload_types)"

    def _of_another(self, file: DocumentFile, sha256: str) -> str | None:
        """The other file of rows that the list of IDs names beside the content of this one."""
        before = f"{self.shown_as.rstrip('/')}/"
        names = self._listed_as.get(sha256, frozenset())
        if f"{before}{file.path}" in names:
            return None
        known = {name: self.contents.get(name.removeprefix(before)) for name in names}
        return next((name for name, one in known.items() if one is not None and one.sha256 != sha256), None)

    @contextmanager
    def reader(self) -> Iterator[Callable[[str], bytes]]:
        """Reads the content of files that were looked into, by their SHA-256, on any thread.

        It raises OSError if a file cannot be read, or is another one now.
        """
        with ExitStack() as opened:
            try:
                open_file = opened.enter_context(self._opened())
            except UNREADABLE as error:
                reason = reason_of(error)

                def open_file(file: DocumentFile) -> IO[bytes]:
                    raise OSError(0, reason)

            yield lambda sha256: self._content(sha256, open_file)

    def _content(self, sha256: str, open_file: Callable[[DocumentFile], IO[bytes]]) -> bytes:
        try:
            with open_file(self.files[self.sha256s[sha256]]) as file:
                content = file.read(MOST_BYTES + 1)
        except UNREADABLE as error:
            raise OSError(0, reason_of(error)) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise OSError(0, "it was changed since it was looked into")
        return content

    @property
    def without_id(self) -> list[str]:
        """The documents of rows, by their paths, that have no ID yet."""
        return [path for path, one in self.contents.items() if not one.problem and one.sha256 not in self.ids]

    @property
    def equal(self) -> list[tuple[str, int, str, int]]:
        """Files with the content of another person's: the first file with its row, then each of the others."""
        first: dict[str, tuple[str, dict[str, int]]] = {}
        found = []
        for path, users in self.users.items():
            one = self.contents.get(path)
            if one is None or one.problem:
                continue
            other, theirs = first.setdefault(one.sha256, (path, users))
            if users.keys() - theirs.keys():
                found.append((other, min(theirs.values()), path, min(users.values())))
        return found

    @property
    def unused(self) -> list[DocumentFile]:
        """The files of nobody."""
        return [file for path, file in self.files.items() if path not in self.users]


def _regex(pieces: list[str], fold: Callable[[str], str]) -> str:
    """A pattern as a regular expression. A text of a cell is a whole word, and an e-mail address a whole address."""
    parts = []
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            parts.append(re.escape(fold(f"|{piece}|")[1:-1]).replace(r"\*", ".*"))  # its outer spaces count
            continue
        before, after, is_address = pieces[at - 1], pieces[at + 1], "@" in piece
        # What the mapping writes beside a text ends it, unless an address could go on with that.
        is_open = before[-1:] in ("", "*") or (is_address and "*" in before)
        goes_on = after[:1] in ("", "*") or (is_address and after[:1] == ".")
        letter = r"[^\W_]" if piece.isascii() else rf"(?:[^\W_]|[{_signs()}])"
        start = r"(?<![\w.+'’&%-])" if is_address else rf"(?<!{letter})" + r"(?<!\d[.,])" * piece[:1].isdigit()
        end = _AFTER_ADDRESS if is_address else rf"(?!{letter})" + r"(?![.,]\d)" * piece[-1:].isdigit()
        parts.append(f"{start if is_open else ''}{re.escape(fold(piece))}{end if goes_on else ''}")
    return "".join(parts)


@cache
def _signs() -> str:
    """The signs that belong to the letter before them, such as vowels of Indic scripts, for a set of characters."""
    return "".join(chr(code) for code in range(0x300, 0x11000) if unicodedata.category(chr(code))[0] == "M")


# Nothing, the ending of a file, or a sign that no domain has: ada@example.com.tr is another address.
_AFTER_ADDRESS: Final = r"(?=$|\.(?:pdf|docx?|odt|rtf|jpe?g|png|gif|txt)$|_|[^\w.@-])"


def _path_of(text: str) -> str:
    """What a cell says, as a path with /: it may be in quotes, or an address of a file."""
    text = text.strip().strip("\"'").replace("\\", "/")
    return unquote(text.partition(":")[2]) if text.casefold().startswith("file:") else text


def listed(names: Iterable[object], most: int = 3) -> str:
    """The first few, and that there are more: `a, b, c, ...`."""
    first = list(islice(map(str, names), most + 1))
    return ", ".join([*first[:most], *(["..."] if len(first) > most else [])])


def _common_parts(one: list[str], other: list[str]) -> int:
    """How many folders are the same, from the last one back."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if normalize(mine) != normalize(theirs):
            break
        count += 1
    return count


def _name_of(info: ZipInfo) -> str:
    """The name of a member: many programs write UTF-8 without saying so, which is then read as cp437."""
    if info.flag_bits & _UNICODE_NAME:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return info.filename


def _changed_at(info: ZipInfo) -> float:
    try:
        return datetime(*info.date_time).timestamp()  # of the machine that packed it, only compared
    except ValueError:
        return 0.0


def _raise(error: OSError) -> None:
    raise error
