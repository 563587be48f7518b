"""Damages files of the corpus at random and reads them: each gives a result or a clear message, never anything else.

`python -m tests.sources.mutate --files 5000 --seed 1` is the long run; the tests run a short one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from importer.problems import UnusableInput
from importer.sources import ReadingLimits, open_sheet
from tests.sources.corpus import CASES, Case

LIMITS = ReadingLimits()


@dataclass(frozen=True)
class Mutant:
    """A damaged file: the case it comes from, how it was damaged, and its bytes."""

    case: Case
    damage: str
    content: bytes


@dataclass(frozen=True)
class Disposition:
    """What happened to a mutant: `read`, `refused`, or a failure."""

    mutant: Mutant
    kind: str
    detail: str
    seconds: float

    @property
    def good(self) -> bool:
        return self.kind in ("read", "refused")


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """`count` damaged files, the same ones for the same seed."""
    chance = random.Random(seed)
    whole = [(case, case.content()) for case in CASES]
    whole = [(case, content) for case, content in whole if 0 < len(content) < 100_000]
    for _ in range(count):
        case, content = chance.choice(whole)
        damage = chance.choice(_ZIP_DAMAGES + DAMAGES if zipfile.is_zipfile(BytesIO(content)) else DAMAGES)
        yield Mutant(case, damage.__name__.strip("_"), damage(content, chance))


def read(mutant: Mutant) -> Disposition:
    """Read a mutant as a person would."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / mutant.case.file
        path.write_bytes(mutant.content)
        try:
            sheet = open_sheet(path, mutant.case.options, LIMITS, shown_as=mutant.case.file)
            numbers = [row.number for row in sheet.rows()]
            kind, detail = "read", ""
            if numbers != sorted(set(numbers)):
                kind, detail = "row numbers out of order", str(numbers)
        except UnusableInput as error:
            kind, detail = "refused", str(error)
            if not error.problems or any(not _is_clear(str(problem)) for problem in error.problems):
                kind = "unclear message"
        except Exception as error:  # noqa: BLE001  # a bug, which this run looks for
            kind, detail = "traceback", repr(error)
    seconds = time.monotonic() - started
    if seconds > 80:  # far more than a busy machine needs to end it
        kind = "hang"
    return Disposition(mutant, kind, detail, seconds)


def _is_clear(message: str) -> bool:
    """Whether a message has a place, a problem and a hint, in one line of acceptable length."""
    return (
        ": " in message
        and "; " in message
        and "\n" not in message
        and "Traceback" not in message
        and len(message) < 1200
    )


# --- damages ------------------------------------------------------------------------------------

Damage = Callable[[bytes, random.Random], bytes]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 4, 16))):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _overwritten(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content))
    size = chance.choice((1, 2, 8, 64))
    return content[:at] + chance.choice((b"\0", b"\xff", b'"', b"<", b"\x80")) * size + content[at + size :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def _shortened(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + content[at + chance.choice((1, 3, 50)) :]


def _repeated(content: bytes, chance: random.Random) -> bytes:
    at, end = sorted(chance.randrange(len(content)) for _ in range(2))
    return content[:end] + content[at:end] + content[end:]


def _member_damaged(content: bytes, chance: random.Random) -> bytes:
    """A damaged part in an intact zip, which no checksum finds."""
    parts = _parts(content)
    name = chance.choice(sorted(parts))
    if parts[name]:
        parts[name] = chance.choice(DAMAGES)(parts[name], chance)
    return _zip(parts)


def _member_dropped(content: bytes, chance: random.Random) -> bytes:
    parts = _parts(content)
    del parts[chance.choice(sorted(parts))]
    return _zip(parts)


def _members_swapped(content: bytes, chance: random.Random) -> bytes:
    parts = _parts(content)
    one, other = chance.choice(sorted(parts)), chance.choice(sorted(parts))
    parts[one], parts[other] = parts[other], parts[one]
    return _zip(parts)


DAMAGES: list[Damage] = [_flipped, _overwritten, _cut, _shortened, _repeated]
_ZIP_DAMAGES: list[Damage] = [_member_damaged, _member_damaged, _member_damaged, _member_dropped, _members_swapped]


def _parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zip(parts: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def main() -> int:
    """Run the long form; exit code 1 if a file gave neither a result nor a message."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="write the failures to this folder")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    slowest = 0.0
    with ThreadPoolExecutor(4) as readers:
        for number, disposition in enumerate(readers.map(read, mutants(arguments.files, arguments.seed))):
            counts[disposition.kind] += 1
            slowest = max(slowest, disposition.seconds)
            if not disposition.good:
                mutant = disposition.mutant
                sys.stdout.write(
                    f"{number} {mutant.case.id} {mutant.damage}: {disposition.kind}: {disposition.detail[:500]}\n"
                )
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{number}-{mutant.case.file}").write_bytes(mutant.content)
    sys.stdout.write(f"{dict(counts)}, slowest {slowest:.1f} s\n")
    return 0 if set(counts) <= {"read", "refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
