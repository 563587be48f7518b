"""The bound: how fast wrk sends the same request to the same sink with the same concurrency."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.candidates import HEADER, JOB_POST, cells
from benchmarks.peers.bare_body import bare_body

HOW_TO_GET = "wrk is not on this machine (Debian: apt-get install wrk), so the bound is delay x rows / concurrency"
_SCRIPT = """\
local file = io.open({body!r}, "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer sink"
function done(summary, latency, requests)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\nfound {{"requests": %d, "seconds": %f, "errors": %d}}\\n',
    summary.requests, summary.duration / 1e6, bad))
end
"""


@dataclass(frozen=True, slots=True)
class Bound:
    """The highest request rate per second, and the seconds of its measurement."""

    rate: float
    seconds: float


def have_wrk() -> bool:
    return shutil.which("wrk") is not None


def measure_bound(url: str, concurrency: int, seconds: float, folder: Path) -> Bound:
    """Send the same application for `seconds`.

    Raises:
        RuntimeError: a request failed.
    """
    body, script = folder / "body.json", folder / "wrk.lua"
    body.write_bytes(bare_body(dict(zip(HEADER, cells(12345), strict=True))))
    script.write_text(_SCRIPT.format(body=str(body)), encoding="utf-8")
    path = f"{url}/api/v1/job-posts/{JOB_POST}/apply/"
    command = ["wrk", "-t1", f"-c{concurrency}", f"-d{seconds:.0f}s", "--timeout", "30s", "-s", str(script), path]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds + 60).stdout
    found = json.loads(output.rpartition("found ")[2])
    if found["errors"]:
        raise RuntimeError(f"{found['errors']} requests of wrk failed")
    return Bound(found["requests"] / found["seconds"], found["seconds"])
