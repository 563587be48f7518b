"""Which candidates are identical, and that the ledger stores no personal data."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from importer.ledger import Answered, Fingerprints, Scope, State, open_ledger
from importer.ledger.fingerprints import key_path
from importer.models import Operation, Target
from importer.problems import UnusableInput
from importer.settings import LedgerAddress
from tests.ledger.given import JOB_POST, POOL, begun, intend, make_intent

KEY = Fingerprints(b"k" * 32)
ADA = KEY.identity(JOB_POST, "ada.lovelace@example.com")


@pytest.mark.parametrize(
    ("scope", "email"),
    [
        pytest.param(JOB_POST, "Ada.Lovelace@Example.COM", id="another case"),
        pytest.param(JOB_POST, "  ada.lovelace@example.com ", id="blanks around it"),
    ],
)
def test_the_same_candidate(scope: Scope, email: str) -> None:
    """Another spelling of an e-mail address is the same identity."""
    assert KEY.identity(scope, email) == ADA


def test_unicode_forms_of_an_email_are_one() -> None:
    """A composed and a decomposed letter are the same letter."""
    assert KEY.identity(JOB_POST, "ayşe@example.com") == KEY.identity(JOB_POST, "ays\u0327e@example.com")


@pytest.mark.parametrize(
    ("scope", "email"),
    [
        pytest.param(JOB_POST, "ada.byron@example.com", id="another e-mail"),
        pytest.param(replace(JOB_POST, base="sandbox"), "ada.lovelace@example.com", id="a rehearsal"),
        pytest.param(Scope(JOB_POST.base, Target(Operation.APPLY, "other")), "ada.lovelace@example.com", id="job post"),
        pytest.param(POOL, "ada.lovelace@example.com", id="a pool"),
    ],
)
def test_another_candidate_or_another_target(scope: Scope, email: str) -> None:
    """Another e-mail, service, operation or target is another identity."""
    assert KEY.identity(scope, email) != ADA


def test_a_job_post_and_a_pool_with_the_same_id_are_two_targets() -> None:
    """The operation is part of the identity."""
    job_post, pool = (Scope("sandbox", Target(operation, "17")) for operation in Operation)
    assert KEY.identity(job_post, "a@example.com") != KEY.identity(pool, "a@example.com")


def test_another_key_gives_other_hashes() -> None:
    """Without the key, e-mail addresses cannot be tested against a ledger."""
    other = Fingerprints(b"j" * 32)
    assert other.identity(JOB_POST, "ada.lovelace@example.com") != ADA
    assert other.body_digest(b"{}") != KEY.body_digest(b"{}")


def test_no_personal_data_on_disk(tmp_path: Path) -> None:
    """No byte of an e-mail, a name or a plain hash of them is in any file of the ledger."""
    body = b'{"email":"person7@example.com","first_name":"Leyla"}'
    with begun(tmp_path / "ledger.sqlite") as ledger:
        intent = make_intent(ledger, 7, body=body)
        intend(ledger, intent)
        ledger.write([Answered(intent.attempt, State.CREATED, 201)])
        written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert intent.attempt.identity in written  # the test reads the right files
    for secret in (b"person7", b'example.com"', b"Leyla"):
        assert secret not in written


def test_the_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    """Ledger, WAL, SHM and key are 0600 from their first byte, the folder of the key 0700."""
    before = os.umask(0)
    try:
        with begun(tmp_path / "ledger.sqlite"):
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*")}
    finally:
        os.umask(before)
    files = [f"ledger.sqlite{end}" for end in ("", "-shm", "-wal", ".key")]
    assert modes == dict.fromkeys(files, 0o600) | {".importer": 0o700}


def problem_on_opening(folder: Path) -> str:
    with pytest.raises(UnusableInput) as caught:
        open_ledger(folder / "ledger.sqlite")
    return str(caught.value)


def test_a_missing_key_is_reported(tmp_path: Path) -> None:
    """A ledger without its key is not used, since every candidate would look new."""
    begun(tmp_path / "ledger.sqlite").close()
    key = key_path(tmp_path / "ledger.sqlite")
    key.unlink()
    assert problem_on_opening(tmp_path) == (
        f"{key}: the key of the ledger cannot be read (No such file or directory); "
        "put the key file back there; if it is lost, use another ledger: then every row is sent again, and the service "
        "reports which candidates it already has; without it the importer cannot tell which rows were sent"
    )


def test_the_key_may_be_in_another_file(tmp_path: Path) -> None:
    """IMPORTER_LEDGER_KEY_FILE replaces the file beside the ledger, and is created with a new one."""
    address = LedgerAddress(str(tmp_path / "ledger.sqlite"), tmp_path / "kept.key")
    open_ledger(address).close()
    assert not key_path(tmp_path / "ledger.sqlite").exists()
    assert stat.S_IMODE((tmp_path / "kept.key").stat().st_mode) == 0o600
    with open_ledger(address) as ledger:
        assert ledger.address == address


def test_the_key_may_be_a_link(tmp_path: Path) -> None:
    """A key file that is named may be a symbolic link, as a mounted secret is; the one next to a ledger may not."""
    key_file = tmp_path / "secrets" / "ledger.key"
    address = LedgerAddress(str(tmp_path / "ledger.sqlite"), key_file)
    key_file.parent.mkdir()
    open_ledger(address).close()
    key_file.rename(tmp_path / "kept")
    key_file.symlink_to(tmp_path / "kept")
    open_ledger(address).close()

    beside = key_path(tmp_path / "ledger.sqlite")
    beside.parent.mkdir(exist_ok=True)
    beside.symlink_to(tmp_path / "kept")
    with pytest.raises(UnusableInput, match="symbolic link"):
        open_ledger(tmp_path / "ledger.sqlite")


def test_a_truncated_key_is_reported(tmp_path: Path) -> None:
    """A key of the wrong length is not used."""
    begun(tmp_path / "ledger.sqlite").close()
    key = key_path(tmp_path / "ledger.sqlite")
    key.write_bytes(b"short")
    assert problem_on_opening(tmp_path) == (
        f"{key}: the key of the ledger has 5 bytes instead of 32; restore the key file from a backup"
    )


def test_the_key_of_another_ledger_is_reported(tmp_path: Path) -> None:
    """A key of another ledger is not used."""
    begun(tmp_path / "ledger.sqlite").close()
    key = key_path(tmp_path / "ledger.sqlite")
    key.write_bytes(bytes(32))
    assert problem_on_opening(tmp_path) == (
        f"{key}: this key file belongs to another ledger; "
        "put back the original key file; without it the importer cannot tell which rows were sent"
    )


def test_leading_zeros_in_a_pool_id_make_no_difference() -> None:
    """017 is pool 17, and its candidates are not sent again."""
    assert Target(Operation.ADD_TO_POOL, "017") == Target(Operation.ADD_TO_POOL, "17")
    assert Target(Operation.ADD_TO_POOL, "00").id == "0"
    assert Target(Operation.APPLY, "017").id == "017"
