"""The CSV through dlt: a resource that reads it, and a custom destination that posts each row; dlt's own parallelism.

There are as many load files as may be in flight, and as many workers, so that no worker waits for another's file; a
session for each worker. Types are not inferred anew and columns are not renamed: what dlt needs not do, it does not.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bare_body import bare_body
from threads import Wanted, wanted

_HEADERS = {"Authorization": "Bearer sink", "Content-Type": "application/json"}
_PAGE = 1000  # rows per page of the resource


def _set_up(asked: Wanted, rows: int) -> None:
    """dlt's settings: few files and many workers, no telemetry, everything in a temporary folder."""
    per_file = str(-(-rows // asked.concurrency))
    os.environ |= {
        "DLT_DATA_DIR": tempfile.mkdtemp(dir="."),
        "RUNTIME__DLTHUB_TELEMETRY": "false",
        "RUNTIME__LOG_LEVEL": "WARNING",
        "LOAD__WORKERS": str(asked.concurrency),
        "NORMALIZE__DATA_WRITER__FILE_MAX_ITEMS": per_file,
        "EXTRACT__DATA_WRITER__FILE_MAX_ITEMS": per_file,
        "LOAD__DELETE_COMPLETED_JOBS": "true",
    }


def _pages(source: Path) -> Iterator[list[dict[str, str]]]:
    with source.open(newline="", encoding="utf-8") as file:
        page = []
        for row in csv.DictReader(file):
            page.append(row)
            if len(page) == _PAGE:
                yield page
                page = []
        if page:
            yield page


def main() -> None:
    """Load the CSV; a row that is not answered with 201 breaks the load off."""
    asked = wanted()
    with asked.source.open("rb") as file:
        _set_up(asked, sum(1 for _ in file) - 1)
    import dlt
    import requests

    own = threading.local()

    def session() -> requests.Session:
        found = getattr(own, "session", None) or requests.Session()
        own.session = found
        return found

    @dlt.destination(  # type: ignore[untyped-decorator]
        batch_size=100,
        loader_file_format="typed-jsonl",
        name="recruiting",
        max_parallel_load_jobs=asked.concurrency,
        loader_parallelism_strategy="parallel",
    )
    def recruiting(items: list[dict[str, str]], table: object) -> None:
        for row in items:
            body = bare_body(row)
            answer = session().post(asked.url, data=body, headers=_HEADERS, timeout=60, verify=asked.ca or True)
            if answer.status_code != 201:
                raise RuntimeError(f"{answer.status_code} for {row['E-mail']}")

    pipeline = dlt.pipeline("candidates", destination=recruiting)
    resource = dlt.resource(_pages(asked.source), name="candidates", write_disposition="append")
    print(pipeline.run(resource))  # noqa: T201


if __name__ == "__main__":
    main()
