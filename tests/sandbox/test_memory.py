"""The memory file keeps submissions beyond the end of the sandbox."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from importer.sandbox import SandboxOptions, SandboxUnusable, running
from tests.sandbox.wire import ADD_TO_POOL, APPLY, TOKEN, Client, application, candidate
from tests.sandbox_process import sandbox_process


def test_a_restarted_sandbox_knows_the_same_people(tmp_path: Path) -> None:
    """With a memory file, a second sandbox answers 409 to people that the first one accepted."""
    options = SandboxOptions(token=TOKEN, memory=tmp_path / "memory.jsonl")
    with running(options) as first:
        assert Client(first.base_url).post(APPLY, application()).status == 201
        assert Client(first.base_url).post(ADD_TO_POOL, candidate()).status == 201
    with running(options) as second:
        assert second.memory.accepted("apply", "4f2c9a") == [application()]
        assert second.memory.accepted("add-candidate", "18") == [candidate()]
        assert Client(second.base_url).post(APPLY, application("AYSE@example.com")).status == 409
        assert Client(second.base_url).post(ADD_TO_POOL, candidate("b@example.com")).json["id"] == 3


def test_each_accepted_submission_is_one_line(tmp_path: Path) -> None:
    """The memory file has operation, target, e-mail address, body and time of each submission, and is private."""
    file = tmp_path / "memory.jsonl"
    with running(SandboxOptions(token=TOKEN, memory=file)) as sandbox:
        client = Client(sandbox.base_url)
        client.post(APPLY, application())
        client.post(APPLY, application())
        client.post(APPLY, application(cv=...))
        [line] = [json.loads(text) for text in file.read_text("utf-8").splitlines()]
    assert line.pop("at").endswith("+00:00")
    assert line == {"operation": "apply", "target": "4f2c9a", "email": "ayse@example.com", "body": application()}
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_killed_sandbox_has_stored_what_it_accepted(tmp_path: Path) -> None:
    """After kill -9, every submission that got a 201 is in the memory of the next sandbox."""
    memory = tmp_path / "memory.jsonl"
    with sandbox_process(memory=memory) as killed:
        client = Client(killed.base_url, {"Authorization": f"Bearer {killed.token}"})
        assert [client.post(APPLY, application(f"p{n}@example.com")).status for n in range(20)] == [201] * 20
        killed.process.kill()
        killed.process.wait()
    with running(SandboxOptions(token=TOKEN, memory=memory)) as again:
        assert [body["email"] for body in again.memory.accepted()] == [f"p{n}@example.com" for n in range(20)]


def test_an_incomplete_last_line_is_removed(tmp_path: Path) -> None:
    """A line that a crash cut off was never answered: it is removed, and the file stays usable."""
    options = SandboxOptions(token=TOKEN, memory=tmp_path / "memory.jsonl")
    with running(options) as first:
        Client(first.base_url).post(APPLY, application("a@example.com"))
        Client(first.base_url).post(APPLY, application("b@example.com"))
    incomplete = (tmp_path / "memory.jsonl").read_bytes()[:-1]
    (tmp_path / "memory.jsonl").write_bytes(incomplete)
    with running(options) as second:
        assert [body["email"] for body in second.memory.accepted()] == ["a@example.com"]
        assert Client(second.base_url).post(APPLY, application("b@example.com")).status == 201
    with running(options) as third:
        assert [body["email"] for body in third.memory.accepted()] == ["a@example.com", "b@example.com"]


def test_a_file_that_is_not_a_memory_file_is_rejected(tmp_path: Path) -> None:
    """The sandbox does not start."""
    file = tmp_path / "memory.jsonl"
    file.write_text('{"name": "x"}\nhello\n', encoding="utf-8")
    with pytest.raises(SandboxUnusable) as caught, running(SandboxOptions(token=TOKEN, memory=file)):
        pass
    assert caught.value.problems == (f"{file}: this is not a memory file of a sandbox; use another file",)


def test_a_file_that_is_not_a_memory_file_is_not_changed(tmp_path: Path) -> None:
    """A file given by mistake keeps its last line, even without a line end."""
    file = tmp_path / "letter.txt"
    file.write_text("Dear all,\nbest", encoding="utf-8")
    with pytest.raises(SandboxUnusable), running(SandboxOptions(token=TOKEN, memory=file)):
        pass
    assert file.read_text("utf-8") == "Dear all,\nbest"


def test_two_sandboxes_do_not_share_a_memory(tmp_path: Path) -> None:
    """A memory file is used by one sandbox at a time, or the same person could be accepted twice."""
    file = tmp_path / "memory.jsonl"
    options = SandboxOptions(token=TOKEN, memory=file)
    with running(options), pytest.raises(SandboxUnusable) as caught, running(options):
        pass
    assert caught.value.problems == (
        f"{file}: another sandbox is using this memory file; stop it, or use another file",
    )


def test_a_memory_file_that_cannot_be_created(tmp_path: Path) -> None:
    """A missing folder is reported before anything is served."""
    file = tmp_path / "nowhere" / "memory.jsonl"
    with pytest.raises(SandboxUnusable) as caught, running(SandboxOptions(token=TOKEN, memory=file)):
        pass
    assert caught.value.problems == (
        f"{file}: the memory file cannot be opened: No such file or directory; check the folder",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits of another system")
def test_a_submission_that_cannot_be_stored_is_not_accepted(tmp_path: Path) -> None:
    """If the memory file cannot be written, the response is 500, no partial line stays, and a retry works."""
    import resource

    file = tmp_path / "memory.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with running(SandboxOptions(token=TOKEN, memory=file)) as sandbox:
        client = Client(sandbox.base_url)
        assert client.post(APPLY, application("a@example.com")).status == 201
        whole = file.read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, hard))
        try:
            rejected = client.post(APPLY, application("b@example.com"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (rejected.status, rejected.json) == (
            500,
            {"detail": ["the memory file of the sandbox cannot be written: No space left on device"]},
        )
        assert file.read_bytes() == whole
        assert client.post(APPLY, application("b@example.com")).status == 201
        assert len(sandbox.memory) == 2
