"""Tables of the measurements."""

from __future__ import annotations

import pytest

from benchmarks.results import Results
from benchmarks.tables import tables

MACHINE = {"cores": 2, "kind": "x86_64", "system": "Linux", "python": "3.11.7", "measured_at": "2026-03-01T12:00:00"}


@pytest.fixture
def measured() -> Results:
    """Two turns of a small run."""
    results = Results(dict(MACHINE))
    setting = {"delay": 20.0, "rows": 1000, "concurrency": 25, "tls": False}
    spent = {"peak": 80.2, "sending_seconds": 1.0, "connections": 25}
    for turn, extra in enumerate((0.0, 0.2)):
        results.add("whole", turn=turn, **setting, who="bound", seconds=0.8)
        results.add("whole", turn=turn, **setting, who="importer", seconds=1.0 + extra, cpu_seconds=0.9, **spent)
        results.add("whole", turn=turn, **setting, who="requests loop", seconds=0.96, cpu_seconds=0.6, **spent)
    for rows, seconds in ((1000, 1.0), (10_000, 11.0)):
        results.add("growth", turn=0, step="run", rows=rows, seconds=seconds, cpu_seconds=1.0, peak=80.0)
    for cores, seconds in ((1, 8.0), (2, 4.4)):
        spent = {"seconds": seconds, "cpu_seconds": 8.0, "peak": 58.0, "first_line": 0.61}
        results.add("scaling", turn=0, cores=cores, rows=1000, **spent)
    results.note("bulk-post 0.3.0: it was skipped: it needs Python 3.12, which is not installed")
    return results


def test_tables(measured: Results) -> None:
    """Each part has a table: medians, lowest and highest, and ratios within a turn."""
    assert (
        tables(measured)
        == """\
Measured on 2026-03-01: 2 cores, Linux x86_64, Python 3.11.7.

### Whole imports

1,000 rows, responses after 20 ms, concurrency 25:

|  | seconds | x the bound | CPU s per 1,000 rows | x the bare loop's CPU | peak MB |
|---|---|---|---|---|---|
| bound | 0.80 (0.80 to 0.80) | 1 |  |  |  |
| importer | 1.10 (1.00 to 1.20) | 1.38 (1.25 to 1.50) | 0.90 (0.90 to 0.90) | 1.50 | 80 |
| requests loop | 0.96 (0.96 to 0.96) | 1.20 (1.20 to 1.20) | 0.60 (0.60 to 0.60) |  | 80 |

### Files of growing size

| step | rows | seconds | rows a second | peak MB | time / rows | memory |
|---|---|---|---|---|---|---|
| run | 1,000 | 1.00 | 1,000 | 80 |  |  |
| run | 10,000 | 11.00 | 909 | 80 | x 1.10 | x 1.00 |

### A check on one core and on all

| cores | rows | seconds | compared with one core | first line after | memory (MB) |
|---|---|---|---|---|---|
| 1 | 1,000 | 8.00 | 1.00 | 0.61 s | 58 |
| 2 | 1,000 | 4.40 | 0.55 | 0.61 s | 58 |

- bulk-post 0.3.0: it was skipped: it needs Python 3.12, which is not installed
"""
    )
