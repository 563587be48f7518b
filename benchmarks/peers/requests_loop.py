"""The bare loop over requests: a session for each thread, csv.DictReader, json.dumps; no checks, no ledger."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import requests
from threads import Send, send_all, wanted


def main() -> None:
    """Send each row of the CSV once."""
    asked = wanted()
    headers = {"Authorization": "Bearer sink", "Content-Type": "application/json"}

    def new_sender() -> Send:
        session = requests.Session()
        verify = asked.ca or True
        return lambda body: session.post(asked.url, data=body, headers=headers, timeout=60, verify=verify).status_code

    send_all(asked, new_sender)


if __name__ == "__main__":
    main()
