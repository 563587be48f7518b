"""The accuracy of proposals for header rows with known targets (benchmarks/suggest.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "suggest.py"


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_suggest", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_nine_of_ten_are_right_and_no_certain_match_is_wrong() -> None:
    """In 25 or more header rows in three languages, 90 % of columns get the right target; no certain match is wrong."""
    bench = benchmark()
    cases = bench.read_cases()
    judged = [item for case in cases for item in bench.judge(case)]
    assert len(cases) >= 25
    assert {case.language for case in cases} == {"en", "tr", "de"}
    assert bench.score(judged).share >= 0.9
    assert [item.header for item in judged if item.certain and item.proposed not in ("-", item.right)] == []
