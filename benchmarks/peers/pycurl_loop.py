"""The bare loop over pycurl: a handle for each thread, csv.DictReader, json.dumps; no checks, no ledger."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own
from threads import Send, send_all, wanted

_HEADERS = ["Authorization: Bearer sink", "Content-Type: application/json", "Expect:"]


def main() -> None:
    """Send each row of the CSV once."""
    asked = wanted()

    def new_sender() -> Send:
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, asked.url)
        handle.setopt(pycurl.HTTPHEADER, _HEADERS)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.TIMEOUT, 60)
        handle.setopt(pycurl.WRITEFUNCTION, lambda _: None)
        if asked.ca:
            handle.setopt(pycurl.CAINFO, asked.ca)

        def send(body: bytes) -> int:
            handle.setopt(pycurl.POSTFIELDS, body)
            handle.perform()
            return int(handle.getinfo(pycurl.RESPONSE_CODE))

        return send

    send_all(asked, new_sender)


if __name__ == "__main__":
    main()
