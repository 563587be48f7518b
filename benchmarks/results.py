"""The measurements, as stored in results.json."""

from __future__ import annotations

import json
import os
import platform
import statistics
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Spread:
    """Several measurements of one thing."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def lowest(self) -> float:
        return min(self.values)

    @property
    def highest(self) -> float:
        return max(self.values)


@dataclass(slots=True)
class Results:
    """Everything of one run of the benchmarks. A part is a list of measurements, each a flat object."""

    machine: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, part: str, /, **measured: Any) -> None:
        """One more measurement of a part."""
        self.parts.setdefault(part, []).append(measured)

    def note(self, text: str) -> None:
        """Add a note for the reader of the figures, once."""
        if text not in self.notes:
            self.notes.append(text)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def begin_results() -> Results:
    """Empty results with the facts of this machine."""
    return Results(
        {
            "cores": os.cpu_count(),
            "kind": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
    )
