"""Compresses the rows of a sheet while they are written, so that little is left to do when the workbook is closed.

XlsxWriter writes the rows of a sheet to a text file, copies it to another one at the end, and compresses that: six
seconds for 100,000 rows of 45 cells. Here it writes a workbook without these rows, into which the compressed ones go.
"""

from __future__ import annotations

import io
import shutil
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final
from zipfile import ZIP64_LIMIT, ZIP_DEFLATED, ZipFile, ZipInfo

_BUFFER: Final = 1 << 16
_ROWS_BEGIN: Final = b"<sheetData>"


def _compressor() -> Any:
    return zlib.compressobj(wbits=-zlib.MAX_WBITS)  # without a header, as in a zip file


class PackedRows:
    """The rows of a sheet in a file, compressed: a part of a deflate stream that ends at a whole byte.

    Raises OSError if the file cannot be written.
    """

    def __init__(self, sheet: Any, path: Path) -> None:
        """Take the rows of an XlsxWriter sheet in constant memory, in which nothing is written yet."""
        self.crc = self.size = 0
        self._file = path.open("w+b")
        self._compress = _compressor()
        self._texts: list[str] = []
        self._length = 0
        sheet.row_data_fh.close()
        sheet.row_data_fh = io.StringIO()  # what XlsxWriter copies at the end
        sheet.fh = self

    def write(self, text: str) -> None:
        """Write a part of a row."""
        self._texts.append(text)
        self._length += len(text)
        if self._length >= _BUFFER:
            self._pack()

    def _pack(self) -> None:
        packed = "".join(self._texts).encode()
        self._texts.clear()
        self._length = 0
        self.crc, self.size = zlib.crc32(packed, self.crc), self.size + len(packed)
        self._file.write(self._compress.compress(packed))

    def finish(self) -> IO[bytes]:
        """The file, from its start; `crc` and `size` are now those of all rows."""
        self._pack()
        self._file.write(self._compress.flush(zlib.Z_FULL_FLUSH))
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # of a full disk; the file is deleted anyway
            self._file.close()


def add_rows(workbook: Path, rows: Mapping[str, PackedRows], path: Path) -> None:
    """Write a workbook again with rows for its sheets, by the names of their parts in the zip file.

    Raises OSError if the new one cannot be written.
    """
    with ZipFile(workbook) as source, ZipFile(path, "w") as target:
        for part in source.infolist():
            if part.filename in rows:
                _write_sheet(target, part, source.read(part), rows[part.filename])
            else:
                target.writestr(part, source.read(part))


def _write_sheet(target: ZipFile, part: ZipInfo, content: bytes, rows: PackedRows) -> None:
    before, mark, end = content.partition(_ROWS_BEGIN)
    begin, packed = before + mark, rows.finish()
    size = len(begin) + rows.size + len(end)
    is_large = size > ZIP64_LIMIT  # only then, as Excel offers to repair a workbook with ZIP64
    written = ZipInfo(part.filename, part.date_time)
    written.external_attr = part.external_attr
    with target.open(written, "w", force_zip64=is_large) as out:  # stored: it is compressed already
        compress = _compressor()
        out.write(compress.compress(begin) + compress.flush(zlib.Z_FULL_FLUSH))
        shutil.copyfileobj(packed, out)
        compress = _compressor()
        out.write(compress.compress(end) + compress.flush())
    written.compress_type, written.file_size = ZIP_DEFLATED, size
    written.CRC = joined_crc(joined_crc(zlib.crc32(begin), rows.crc, rows.size), zlib.crc32(end), len(end))
    file: Any = target.fp
    file.seek(written.header_offset)
    file.write(written.FileHeader(zip64=is_large))
    file.seek(target.start_dir)


_POLYNOMIAL, _ONE, _ONE_BYTE = 0xEDB88320, 1 << 31, 1 << 23  # of CRC-32; the highest bit is the lowest coefficient


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of two byte strings in sequence, from those of each; `size`: the length of the second."""
    factor, power = _ONE, _ONE_BYTE
    while size:
        factor = _product(factor, power) if size & 1 else factor
        power, size = _product(power, power), size >> 1
    return _product(factor, first) ^ second


def _product(one: int, other: int) -> int:
    product = 0
    for bit in range(31, -1, -1):
        product ^= other if one >> bit & 1 else 0
        other = other >> 1 ^ (_POLYNOMIAL if other & 1 else 0)
    return product
