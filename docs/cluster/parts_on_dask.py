"""One import in parts on a Dask cluster: python parts_on_dask.py tcp://scheduler:8786 4 run export.csv --mapping m.yaml

Each task runs the command for one part, in the folder of the import, which all workers share. A task whose worker dies
is started again on another one; the ledger knows what was sent.
"""

import subprocess
import sys
import time

from dask.distributed import Client, as_completed


def import_part(number: int, total: int, command: list[str]) -> int:
    """Run one part; its exit code."""
    words = [sys.executable, "-m", "importer", *command, "--part", f"{number}/{total}", "--yes", "--quiet"]
    while (code := subprocess.run(words, check=False).returncode) == 75:
        time.sleep(5)  # it is still running where its worker died
    if code not in (0, 4):  # 4: some rows need a person
        raise RuntimeError(f"part {number}/{total} ended with {code}")
    return code


if __name__ == "__main__":
    scheduler, total, *command = sys.argv[1:]
    with Client(scheduler) as client:
        numbers = range(1, int(total) + 1)
        parts = [client.submit(import_part, n, int(total), command, pure=False, retries=5) for n in numbers]
        failed = [done.key for done in as_completed(parts) if done.status != "finished"]
    sys.exit("not all parts have ended; run the same command again" if failed else 0)
