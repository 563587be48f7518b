"""Asks the workers of a Dask cluster.

Nothing here waits without a limit, since Dask may: a task for a worker that has gone waits for its return, and a client
can wait for ever after many workers were killed (dask/distributed #3196). Each task is for one worker and is not
repeated by Dask, so that what kills a worker does not go round the cluster, whatever `allowed-failures` is (#6078).
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import uuid
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoResult
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeVar

from importer import __version__
from importer.cluster.dask_part import LOST, listens_at
from importer.problems import FilePlace, Problem, UnusableInput, unusable_file
from importer.settings import is_loopback

T = TypeVar("T")
_DISTRIBUTION: Final = "candidate-importer"
_NO_NEWS: Final = 60.0  # seconds without an answer, after which a worker counts as dead
_SECONDS: Final = 10.0  # for a question to the scheduler, which answers at once
_SOON: Final = 2.0  # for a connection that was lost
_LOOK: Final = 0.5  # seconds: after that, a worker that has gone is noticed
_LARGE: Final = "1 GB"  # of a task; Dask warns of large ones
_NAMED: Final = 3  # workers in a message


class DaskClient:
    """A client of a scheduler, on a thread with an event loop of its own.

    Raises:
        UnusableInput: it cannot be reached, has no workers, or a worker has another version of importer or Python.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.count = 0  # of its workers, when the run began
        self._client: Any = None
        self._asked: dict[asyncio.Future[None], str] = {}  # done when the worker of that address has gone
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # what Dask leaves behind; ours is told to who asked
        self._thread = threading.Thread(target=self._loop.run_forever, name="dask", daemon=True)
        self._thread.start()
        try:
            self._client = self._connected(_SECONDS)
            self._watch = asyncio.run_coroutine_threadsafe(self._look(), self._loop)
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Can be called repeatedly."""
        if self._loop.is_closed():
            return
        if self._client is not None:
            with suppress(OSError):
                self._call(self._client.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        if not self._thread.is_alive():
            self._cancel_all()
            self._loop.close()

    def _cancel_all(self) -> None:
        async def ended() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self._loop.run_until_complete(ended())

    # --- the connection ---

    def _connected(self, seconds: float) -> Any:
        try:
            import dask
            from distributed import Client, Security
        except ImportError:
            raise unusable_file(
                "cluster-library-missing",
                "the library for Dask clusters is not installed",
                "run: pip install 'candidate-importer[cluster]'",
                "--cluster",
            ) from None
        for name in [one for one in logging.root.manager.loggerDict if one.startswith(("distributed", "tornado"))]:
            logging.getLogger(name).handlers = [logging.NullHandler()]  # what matters is told as a problem
        dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE})
        is_encrypted = self.address.startswith("tls://")
        security: Any = Security(require_encryption=is_encrypted or None)  # type: ignore[no-untyped-call]
        if is_encrypted:
            self._check_certificates(security)

        async def connect() -> Any:
            client: Any = Client
            return await client(
                self.address, asynchronous=True, timeout=seconds, security=security, set_as_default=False
            )

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of other versions, see below
                return self._call(connect, 2 * _SECONDS)
        except (OSError, RuntimeError) as error:
            raise self.unreachable(error) from None

    def unreachable(self, error: Exception) -> UnusableInput:
        other = "tcp://" if self.address.startswith("tls://") else "tls://"
        return unusable_file(
            "cluster-unreachable",
            f"no Dask scheduler responds at this address ({str(error).strip().partition(chr(10))[0]})",
            f"start it with: dask scheduler; check host, port and firewall, and whether it was started for {other}",
            self.address,
        )

    def _check_certificates(self, security: Any) -> None:
        names = ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
        values = (security.tls_ca_file, security.tls_client_cert, security.tls_client_key)
        missing = [f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name, one in zip(names, values, strict=True) if not one]
        reason = f"not set: {', '.join(missing)}" if missing else ""
        if not missing:
            try:
                security.get_connection_args("client")
            except (OSError, ValueError) as error:
                reason = f"{error}, in {', '.join(values)}"
        if reason:
            raise unusable_file(
                "cluster-certificates-unusable",
                f"the certificates of this side cannot be used ({reason})",
                "set these variables to the files with the CA's certificate, and with the certificate and the key of "
                "this machine",
                self.address,
            )

    def _check_workers(self) -> None:
        try:
            self._call(lambda: self._client.wait_for_workers(1, timeout=_SECONDS), 2 * _SECONDS)
            found = self._call(lambda: self._client.get_versions(packages=[_DISTRIBUTION]))
        except OSError:
            raise unusable_file(
                "cluster-without-workers",
                "this Dask cluster has no workers",
                f"start at least one: dask worker {self.address}",
                self.address,
            ) from None
        self.count = len(found["workers"])
        if problems := differences(found["client"], found["workers"]):
            raise UnusableInput(problems)
        if self.address.startswith("tcp://"):
            self._check_listeners(found["workers"])

    def _check_listeners(self, workers: Iterable[str]) -> None:
        """Without certificates, anyone who reaches a port of Dask can run programs there."""
        told = {one: self.submit(self.ask(one, listens_at)) for one in workers}
        listening = {self.address: self._call(self._client.scheduler.identity)["address"]}
        for address, answer in told.items():
            with suppress(OSError):  # it has just died
                listening[address] = loaded(answer.result())[0]
        reachable = [one for one, at in listening.items() if not is_loopback(_host_of(at))]
        if reachable:
            message = "other machines can reach it, and it asks for no certificate"
            hint = "start it with --host 127.0.0.1; or use tls:// with certificates, see docs/cluster.md"
            raise UnusableInput(of_workers(Problem("cluster-open", message, hint), reachable))

    # --- questions to workers ---

    def addresses(self) -> list[str]:
        """The workers that are there now. Raises OSError if the scheduler is not."""
        if self._client.status == "closed":  # its scheduler may have been started again
            try:
                self._client = self._connected(_SOON)
            except UnusableInput as error:
                raise ConnectionError(str(error)) from None
        if self._client.status != "running":
            raise ConnectionError(f"{self.address} is not connected")
        return sorted(self._call(self._client.scheduler.ncores))

    async def ask(self, address: str, function: Callable[..., bytes], *arguments: Any) -> bytes:
        """What a worker answers; at most one is asked, at most once.

        Raises:
            OSError: it has gone, or does not answer.
        """
        gone: asyncio.Future[None] = self._loop.create_future()
        self._asked[gone] = address
        key, future = f"importer-{function.__name__}-{uuid.uuid4().hex}", None
        try:
            future = self._client.submit(
                function, *arguments, key=key, workers=[address], allow_other_workers=False, pure=False, retries=0
            )
            answer = asyncio.ensure_future(_result_of(future))
            await asyncio.wait({answer, gone}, timeout=_NO_NEWS, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                answer.cancel()
                raise ConnectionError(f"{address} does not answer")
            found: bytes = answer.result()
        except Exception as error:
            raise ConnectionError(str(error)) from error
        finally:
            del self._asked[gone]
            if future is not None:
                future.release()
        return found

    def submit(self, answer: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(answer, self._loop)

    async def _look(self) -> None:
        """Dask does not say that the worker of a task has gone: it waits for its return."""
        while True:
            await asyncio.sleep(_LOOK)
            if not self._asked:
                continue
            present: Mapping[str, int] | None = None  # not known: the scheduler may be slow
            with suppress(Exception):
                present = await asyncio.wait_for(self._client.scheduler.ncores(), _SECONDS)
            if self._client.status != "running":
                present = {}
            for gone, address in list(self._asked.items()):
                if present is not None and address not in present and not gone.done():
                    gone.set_result(None)

    def _call(self, question: Callable[[], Any], seconds: float = _SECONDS) -> Any:
        """What a method of the client returns, called on its loop. Raises OSError if that takes longer."""

        async def ask() -> Any:
            return await question()

        answer = self.submit(ask())
        try:
            return answer.result(seconds)
        except NoResult:
            answer.cancel()
            raise ConnectionError(f"{self.address} does not answer") from None


def differences(ours: Mapping[str, Any], workers: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """Why workers cannot do what this process does, by the versions that Dask tells of each."""
    wrong: dict[str, list[str]] = {}
    python = _python_of(ours)
    for address, one in workers.items():
        version, theirs = one["packages"].get(_DISTRIBUTION), _python_of(one)
        if version is None:
            wrong.setdefault("it has no importer", []).append(address)
        elif version != __version__:
            wrong.setdefault(f"it has importer {version}, and this machine {__version__}", []).append(address)
        if theirs != python:
            wrong.setdefault(f"it runs Python {theirs}, and this machine {python}", []).append(address)
        if not (address.startswith("tls://") or is_loopback(_host_of(address))):
            wrong.setdefault("what is sent to it is not encrypted", []).append(address)
    hint = "install the same importer and Python on every worker; on other machines, start it with certificates"
    return [of_workers(Problem("cluster-worker-differs", one, hint), addresses) for one, addresses in wrong.items()]


def _host_of(address: str) -> str:
    return address.rpartition(":")[0].rpartition("/")[2].strip("[]")


def _python_of(told: Mapping[str, Any]) -> str:
    return ".".join(told["host"]["python"].split(".")[:2])


async def _result_of(answer: Any) -> Any:
    return await answer


def loaded(message: bytes) -> Any:
    """What a worker answers. Raises OSError if it is lost, RuntimeError for a bug."""
    if message == LOST:
        raise ConnectionError("the worker has been started again")
    found = pickle.loads(message)
    if isinstance(found, str):
        raise RuntimeError(f"a worker failed:\n{found}")
    return found


def of_workers(problem: Problem, addresses: Sequence[str]) -> Problem:
    more = f" and {len(addresses) - _NAMED} more" if len(addresses) > _NAMED else ""
    place = f"worker {', '.join(addresses[:_NAMED])}{more}"
    message = f"{problem.place}: {problem.message}" if problem.place is not None else problem.message
    return replace(problem, message=message, place=FilePlace(place))
