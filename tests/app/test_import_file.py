"""What a second front door may rely on: the events of an order, their order, and the control of a run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from importer.app import orders
from importer.app.cleanup import find_old
from importer.app.earlier_runs import EarlierRun, resume, rewrite_report
from importer.app.import_file import CheckStopped, Finished, check_file, import_file
from importer.app.orders import Order, RunControl, Sending
from importer.models import OutcomeKind
from importer.settings import Settings
from tests.cli.conftest import Served, candidate, write_csv
from tests.patience import PATIENCE

Serve = Callable[..., Served]


class Listener:
    """Keeps every event; `at` calls something when so many rows have ended."""

    def __init__(self, at: int = 0, then: Callable[[], None] = lambda: None) -> None:
        self.events: list[orders.Event] = []
        self._at, self._then = at, then

    def __call__(self, event: orders.Event) -> None:
        self.events.append(event)
        if isinstance(event, orders.RowEnded) and self.rows == self._at:
            self._then()

    @property
    def rows(self) -> int:
        return sum(isinstance(event, orders.RowEnded) for event in self.events)

    @property
    def names(self) -> list[str]:
        """The kinds of events without repetition, in order."""
        names = [type(event).__name__ for event in self.events]
        return [name for number, name in enumerate(names) if number == 0 or names[number - 1] != name]


def order_for(served: Served, rows: int, **changed: object) -> Order:
    """An order to import so many people."""
    folder = served.door.folder
    file = write_csv(folder / "people.csv", [candidate(number) for number in range(rows)])
    settings = Settings(
        base_url=served.sandbox.base_url,
        token=SecretStr(served.sandbox.token),
        out=folder / "results",
        resend_delay_seconds=0,
    )
    settings = settings.model_copy(update=changed)
    return Order(file, folder / "mapping.yaml", settings)


def finished(found: Finished | None) -> Finished:
    assert found is not None
    return found


def counts(found: Finished) -> dict[str, int]:
    return {kind.value: count for kind, count in found.summary.outcomes.items() if count}


def test_the_events_of_a_run_come_in_the_order_of_its_work(serve: Serve) -> None:
    """Planned, started, each row, the end of the rows, the report."""
    served, listener = serve(), Listener()
    done = finished(import_file(order_for(served, 3), listener))
    assert listener.names == ["Planned", "Started", "RowEnded", "RowsEnded", "ReportWritten"]
    planned, last = listener.events[0], listener.events[-1]
    assert isinstance(planned, orders.Planned)
    assert (planned.forecast.rows, planned.forecast.ready) == (3, 3)
    assert last == orders.ReportWritten(done.folder, done.summary)
    assert counts(done) == {"created": 3}


def test_a_check_ends_with_its_plan_and_sends_nothing(serve: Serve) -> None:
    """What would become of each row is known when the plan is made."""
    served, listener = serve(), Listener()
    done = check_file(order_for(served, 3), listener)
    assert listener.names == ["Planned", "RowsEnded", "ReportWritten"]
    assert (counts(done), served.accepted) == ({"not_sent": 3}, [])


@pytest.mark.parametrize("raises", [False, True], ids=["no", "Ctrl-C"])
def test_who_is_asked_and_declines_leaves_nothing(serve: Serve, raises: bool) -> None:
    """The question contains the number of ready rows; a no removes all files."""
    served, asked = serve(), list[int | None]()

    def confirm(planned: orders.Planned) -> bool:
        asked.append(planned.forecast.ready)
        if raises:
            raise KeyboardInterrupt
        return False

    order = order_for(served, 3)
    with pytest.raises(KeyboardInterrupt) if raises else nullcontext():
        assert import_file(order, confirm=confirm) is None
    assert (asked, served.accepted) == ([3], [])
    assert not list(order.settings.out.glob("2*"))


def test_a_check_that_is_stopped_leaves_nothing(serve: Serve) -> None:
    """It ends with the rows that are read at that moment, and its folder is removed."""
    control, order = RunControl(), order_for(serve(), 2_300)
    with pytest.raises(CheckStopped):
        check_file(order, lambda event: control.stop() if isinstance(event, orders.Preparing) else None, control)
    assert not list(order.settings.out.glob("2*"))


def test_a_stop_ends_in_a_report_and_the_run_goes_on_later(serve: Serve) -> None:
    """Pending rows finish, the others are not sent, and the exit code shows that the run can be repeated."""
    served, control = serve({"kind": "delay", "ms": 5, "share": 1.0, "times": 9999}), RunControl()
    listener = Listener(5, control.stop)
    order = order_for(served, 60, concurrency=2)
    done = finished(import_file(order, listener, control))
    assert (done.summary.exit_code, done.summary.finished) == (5, False)
    assert done.summary.stopped is not None
    assert 0 < done.summary.outcomes[OutcomeKind.NOT_SENT] < 60
    assert any(isinstance(event, orders.ReportWritten) and event.summary.stopped for event in listener.events)
    again = finished(resume(EarlierRun("last", order.settings), Sending()))
    assert again.summary.exit_code == 0
    assert sorted(served.accepted) == sorted(f"person{number}@example.com" for number in range(60))


def test_a_stop_before_the_first_row_sends_none(serve: Serve) -> None:
    """A stop is possible while the file is still being read."""
    served, control = serve(), RunControl()
    done = finished(import_file(order_for(served, 4), lambda event: control.stop(), control))
    assert (counts(done), served.accepted) == ({"not_sent": 4}, [])


def test_a_paused_run_sends_nothing_until_it_is_resumed(serve: Serve) -> None:
    """A pause lasts until `resume`, even one before the first row."""
    served, control = serve(), RunControl()
    control.pause()
    done: list[Finished] = []
    thread = threading.Thread(target=lambda: done.append(finished(import_file(order_for(served, 6), control=control))))
    thread.start()
    time.sleep(1)
    assert (served.accepted, thread.is_alive()) == ([], True)
    control.resume()
    thread.join(timeout=PATIENCE)
    assert counts(done[0]) == {"created": 6}


def test_a_signal_determines_the_exit_code(serve: Serve) -> None:
    """128 and the number of the signal, as shells have it."""
    served, control = serve(), RunControl()
    listener = Listener(1, lambda: control.stop(15))
    assert finished(import_file(order_for(served, 40), listener, control)).summary.exit_code == 128 + 15


def test_the_report_is_written_again(serve: Serve) -> None:
    """The same summary, from what the run keeps."""
    served = serve()
    order = order_for(served, 3)
    done = finished(import_file(order))
    (done.folder / "report.xlsx").unlink()
    again = rewrite_report(EarlierRun(done.summary.run, order.settings))
    assert again.summary == done.summary
    assert (done.folder / "report.xlsx").is_file()


SECOND_FRONT_DOOR = """\
import sys
import threading
import time
from pathlib import Path

from importer.app.import_file import import_file
from importer.app.cleanup import find_old
from importer.app.orders import Order
from importer.settings import load_settings

file, mapping, out = map(Path, sys.argv[1:])
finished = import_file(Order(file, mapping, load_settings(out=out)), lambda event: print(type(event).__name__))
sys.exit(finished.summary.exit_code)
"""


def test_a_second_front_door_takes_a_few_lines(serve: Serve, tmp_path: Path) -> None:
    """One that prints a line for each event knows orders, events and settings, and nothing else of the importer."""
    served = serve()
    order = order_for(served, 2)

    ran = subprocess.run(
        [sys.executable, "-c", SECOND_FRONT_DOOR, str(order.file), str(order.mapping), str(tmp_path / "out")],
        env=served.door.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.split() == ["Planned", "Started", "RowEnded", "RowEnded", "RowsEnded", "ReportWritten"]


def test_a_run_whose_manifest_cannot_be_read_is_purged_when_it_is_old(serve: Serve) -> None:
    """Its copies contain personal data; its name contains the start time."""
    order = order_for(serve(), 1)
    folder = finished(import_file(order)).folder
    (folder / "run.json").write_text('{"version": 1}', encoding="utf-8")
    age, later = timedelta(days=90), datetime.now(UTC) + timedelta(days=100)
    assert [one.folder for one in find_old(order.settings, age, later)[0]] == [folder]
    assert find_old(order.settings, age, datetime.now(UTC)) == ([], [])


def test_what_needs_no_pandas_does_not_load_it() -> None:
    """It takes half a second and as much memory as all the rest."""
    code = "import sys, importer.app.mapping_files, importer.app.earlier_runs; print('pandas' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_run_loads_only_what_it_needs() -> None:
    """Annotated workbooks and proposals of mappings need libraries that would double the start of every run."""
    code = "import sys, importer.cli.run_command; print({'openpyxl', 'importer.suggest'} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
