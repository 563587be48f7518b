"""The rows of a sheet, compressed as they come: whoever waits for the report does not wait for its packing.

XlsxWriter keeps the rows of a sheet in a file, and packs it at the end: of a long run's report that is nearly all that
is left to do then. Here the place of that file is taken by one that holds the rows compressed already, and only what
stands before and after them in the sheet is packed at the end.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, Final, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from importer.report.joined_crc import joined_crc

_LEVEL: Final = 3  # of 9, about as spreadsheet programs do: a third of the time of 6, for a file larger by a quarter
_AT_ONCE: Final = 1 << 18  # characters
_MARK: Final = re.compile(rb"<!-- rows (\d+) -->")
_SHEETS: Final = "xl/worksheets/"


class PackedRows:
    """Takes text as the file does in whose place it stands; asked to read it back, it gives a mark instead.

    number: tells it from the others of its workbook.

    Raises:
        OSError: there is no room for it in `folder`.
    """

    def __init__(self, number: int, folder: Path) -> None:
        self._mark = f"<!-- rows {number} -->"
        self._waiting: list[str] = []
        self._waiting_size = 0
        self._packer = _packer()
        self.packed: IO[bytes] = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `discard`
        self.crc = 0
        self.size = 0  # bytes, as they will be read

    def write(self, text: str) -> None:
        self._waiting.append(text)
        self._waiting_size += len(text)
        if self._waiting_size >= _AT_ONCE:
            self._pack()

    def seek(self, _place: int) -> None:
        """Nothing: where the mark was given once, there is no more to read."""

    def read(self, _size: int) -> str:
        """The mark, the first time."""
        mark, self._mark = self._mark, ""
        return mark

    def close(self) -> None:
        """Nothing: the rows are still to be put into the workbook. See `discard`."""

    def finish(self) -> None:
        """No more rows come: what is `packed` is complete, and goes on from its beginning to the next whole byte."""
        self._pack()
        self.packed.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        self.packed.seek(0)

    def discard(self) -> None:
        """Let its room go."""
        with suppress(OSError):  # on a full disk closing fails too, and the file goes anyway
            self.packed.close()

    def _pack(self) -> None:
        data = "".join(self._waiting).encode()
        self._waiting = []
        self._waiting_size = 0
        self.crc = zlib.crc32(data, self.crc)
        self.size += len(data)
        self.packed.write(self._packer.compress(data))


class PackingZip(ZipFile):
    """A zip file for XlsxWriter, which puts packed rows where it finds their mark in a sheet."""

    def __init__(self, file: Any, mode: Literal["w"], *, rows: Mapping[int, PackedRows], **options: Any) -> None:
        super().__init__(file, mode, compresslevel=_LEVEL, **options)
        self._rows = rows

    def write(self, filename: Any, arcname: Any = None, *args: Any, **kwargs: Any) -> None:
        if str(arcname).startswith(_SHEETS):
            sheet = Path(filename).read_bytes()  # without its rows it is small
            if mark := _MARK.search(sheet):
                info = ZipInfo.from_file(filename, arcname)
                self._write_around(info, sheet[: mark.start()], self._rows[int(mark[1])], sheet[mark.end() :])
                return
        super().write(filename, arcname, *args, **kwargs)

    def _write_around(self, info: ZipInfo, before: bytes, rows: PackedRows, after: bytes) -> None:
        """Write a member of three parts, each packed by itself: the zip format has them as one."""
        packer = _packer()
        head = packer.compress(before) + packer.flush(zlib.Z_SYNC_FLUSH)
        packer = _packer()
        tail = packer.compress(after) + packer.flush()
        rows.finish()
        info.compress_type = ZIP_DEFLATED
        info.CRC = zlib.crc32(after, joined_crc(zlib.crc32(before), rows.crc, rows.size))
        info.file_size = len(before) + rows.size + len(after)
        info.compress_size = len(head) + _size_of(rows.packed) + len(tail)
        # ZipFile cannot be given what is packed already, so this is what it does itself for each member.
        file: Any = self.fp
        file.seek(self.start_dir)
        info.header_offset = file.tell()
        file.write(info.FileHeader())
        file.write(head)
        copyfileobj(rows.packed, file, _AT_ONCE)
        file.write(tail)
        self.start_dir = file.tell()
        self.filelist.append(info)
        self.NameToInfo[info.filename] = info
        self._didModify = True


def _packer() -> Any:
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)


def _size_of(file: IO[bytes]) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size
