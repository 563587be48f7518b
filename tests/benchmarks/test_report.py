"""Tables and plots of the measurements."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks.plots import write_plots
from benchmarks.results import Results, join, read_results
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
    results.add(
        "rooms", turn=0, part="read", baseline="csv module", unit="CPU s", rows=100, seconds=0.3, baseline_seconds=0.2
    )
    for rows, seconds in ((1000, 1.0), (10_000, 11.0)):
        results.add("growth", turn=0, step="run", rows=rows, seconds=seconds, cpu_seconds=1.0, peak=80.0)
    figures = {"wait": 0.5, "seconds": 6.0, "baseline_seconds": 12.0, "peak": 64.0}
    results.add("report", turn=0, outcome="invalid", rows=1000, **figures)
    for cores, seconds in ((1, 8.0), (2, 4.4)):
        spent = {"seconds": seconds, "cpu_seconds": 8.0, "peak": 58.0, "first_line": 0.61}
        results.add("cores", turn=0, cores=cores, rows=1000, **spent)
    limit = {"rate": 50.0, "burst": 50.0, "retry_after": "1", "rows": 1000, "concurrency": 25, "ideal_seconds": 19.0}
    results.add("refusing", turn=0, who="importer", **limit, seconds=20.0, used=0.95238, refused=0.012, twice=0)
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

### Parts and their baselines

| part | rows | ours | baseline | ours / baseline | the baseline is |
|---|---|---|---|---|---|
| read | 100 | 0.30 CPU s | 0.20 | 1.50 | csv module |

### Files of growing size

| step | rows | seconds | rows a second | peak MB | time / rows | memory |
|---|---|---|---|---|---|---|
| run | 1,000 | 1.00 | 1,000 | 80 |  |  |
| run | 10,000 | 11.00 | 909 | 80 | x 1.10 | x 1.00 |

### The report of a long run

| all rows are | rows | the run waits for it | written again | x XlsxWriter alone | peak MB |
|---|---|---|---|---|---|
| invalid | 1,000 | 0.50 s | 6.00 s | 0.50 | 64 |

### A check on one core and on all

| cores | rows | seconds | compared with one core | first line after | memory (MB) |
|---|---|---|---|---|---|
| 1 | 1,000 | 8.00 | 1.00 | 0.61 s | 58 |
| 2 | 1,000 | 4.40 | 0.55 | 0.61 s | 58 |

### A service that answers 429 beyond its limit

|  | limit | rows | seconds | ideal seconds | used | 429s | sent twice |
|---|---|---|---|---|---|---|---|
| importer | 50 a second, 50 at once, Retry-After: 1 | 1,000 | 20.0 | 19.0 | 95.2 % | 1.2 % | 0 |

- bulk-post 0.3.0: it was skipped: it needs Python 3.12, which is not installed
"""
    )


def test_stored_results_are_read_back(measured: Results, tmp_path: Path) -> None:
    """The results read are those written."""
    measured.write(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == measured


def test_results_of_several_runs(measured: Results) -> None:
    """Joined runs count as further turns, each compared with its own bound."""
    joined = join([measured, measured])
    assert "| importer | 1.10 (1.00 to 1.20) | 1.38 (1.25 to 1.50) |" in tables(joined)
    assert [one["turn"] for one in joined.parts["whole"] if one["who"] == "bound"] == [0, 1, 2, 3]
    assert joined.notes == measured.notes


def test_results_of_another_version(tmp_path: Path) -> None:
    """Results of an unknown version are rejected."""
    path = tmp_path / "results.json"
    path.write_text('{"version": 0}', encoding="utf-8")
    with pytest.raises(SystemExit) as caught:
        read_results(path)
    assert str(caught.value) == f"{path} has version 0, but version 2 is required; measure again"


def test_plots(measured: Results, tmp_path: Path) -> None:
    """Both plots are valid SVG with the names of the measured tools."""
    whole, growth = (ElementTree.parse(path).getroot() for path in write_plots(measured, tmp_path))
    words = {text.text for text in whole.iter("{http://www.w3.org/2000/svg}text")}
    assert {"importer", "requests loop", "1,000 rows, responses after 20 ms, concurrency 25", "1.1 s"} <= words
    assert {"run", "1,000", "10,000"} <= {text.text for text in growth.iter("{http://www.w3.org/2000/svg}text")}
