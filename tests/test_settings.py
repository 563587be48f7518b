"""Settings: their sources, the order of these, and problems."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.ledger import ledger_name
from importer.problems import UnusableInput
from importer.settings import Settings, WireFormat, load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, no settings in the environment, and an empty configuration folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    for name in ("BASE_URL", "TOKEN", "TOKEN_FILE", "OUT", "LEDGER", "CONCURRENCY", "RATE", "YES_NO"):
        monkeypatch.delenv(f"IMPORTER_{name}", raising=False)
    return tmp_path


def refusal(**flags: object) -> list[str]:
    """The problems of settings that are not valid."""
    with pytest.raises(UnusableInput) as refused:
        load_settings(**flags)
    return str(refused.value).splitlines()


def test_the_first_source_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flag, environment, .env, importer.toml, user file: in this order."""
    (folder / "user" / "importer").mkdir(parents=True)
    (folder / "user" / "importer" / "config.toml").write_text(
        "concurrency = 1\nmax_attempts = 1\nrate = 1.0\nout = 'user'\n"
    )
    assert load_settings().concurrency == 1
    (folder / "importer.toml").write_text("concurrency = 2\nmax_attempts = 2\nrate = 2.0\n")
    (folder / ".env").write_text("IMPORTER_CONCURRENCY=3\nIMPORTER_MAX_ATTEMPTS=3\n")
    monkeypatch.setenv("IMPORTER_CONCURRENCY", "4")
    settings = load_settings()
    assert (settings.concurrency, settings.max_attempts, settings.rate, str(settings.out)) == (4, 3, 2.0, "user")
    assert load_settings(concurrency=5, rate=None).concurrency == 5


def test_the_ledger_is_in_the_results_folder_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path or a sqlite URL sets another location."""
    assert load_settings(out=Path("here")).ledger_address.location == "here/ledger.sqlite"
    monkeypatch.setenv("IMPORTER_LEDGER", "sqlite:///kept/ledger.db")
    assert ledger_name(load_settings().ledger_address) == "kept/ledger.db"


def test_a_ledger_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unsupported database is reported before anything else."""
    monkeypatch.setenv("IMPORTER_LEDGER", "mysql://db.example.com/ledger")
    with pytest.raises(UnusableInput) as refused:
        ledger_name(load_settings().ledger_address)
    assert str(refused.value) == (
        "IMPORTER_LEDGER: the ledger must be a SQLite file or a PostgreSQL database; "
        "set IMPORTER_LEDGER to the path of a file, or to postgresql://USER@HOST/DATABASE"
    )


ADDRESSES = [
    pytest.param("https://recruiting.example.com", "https://recruiting.example.com", id="https"),
    pytest.param(" https://recruiting.example.com/v2/ ", "https://recruiting.example.com/v2", id="a path, trimmed"),
    pytest.param("http://127.0.0.1:8080", "http://127.0.0.1:8080", id="loopback"),
    pytest.param("http://[::1]:8080", "http://[::1]:8080", id="loopback in IPv6"),
    pytest.param("http://localhost", "http://localhost", id="localhost"),
    pytest.param("HTTPS://Recruiting.Example.com:443/V2", "https://recruiting.example.com/V2", id="written otherwise"),
    pytest.param("HTTP://[::1]:80", "http://[::1]", id="IPv6 written otherwise"),
    pytest.param("https://recruiting.example.com:8443", "https://recruiting.example.com:8443", id="a port of its own"),
]


@pytest.mark.parametrize(("given", "used"), ADDRESSES)
def test_a_valid_address_is_normalized(given: str, used: str) -> None:
    """https anywhere, http only for this computer; normalized, because the ledger identifies services by it."""
    assert load_settings(base_url=given).service_url() == used


BAD_ADDRESSES = [
    pytest.param(
        "http://recruiting.example.com",
        "the address is not encrypted; use https (http is only allowed for this computer)",
        id="http",
    ),
    pytest.param(
        "http://127.0.0.1.example.com",
        "the address is not encrypted; use https (http is only allowed for this computer)",
        id="a name that looks like loopback",
    ),
    pytest.param(
        "recruiting.example.com",
        "it is not a valid address; write it like https://recruiting.example.com",
        id="no scheme",
    ),
    pytest.param("sk-secret", "it is not a valid address; write it like https://recruiting.example.com", id="a token"),
    pytest.param(
        "user:secret@example.com",
        "it is not a valid address; write it like https://recruiting.example.com",
        id="a password without a scheme",
    ),
    pytest.param(
        "https://user:secret@h℀.example",
        "it is not a valid address; write it like https://recruiting.example.com",
        id="a password before a host that is none",
    ),
    pytest.param(
        "https://example.com:99999",
        "it is not a valid address; write it like https://recruiting.example.com",
        id="no port",
    ),
    pytest.param(
        "https://example.com/a b",
        "it is not a valid address; write it like https://recruiting.example.com",
        id="a blank",
    ),
    pytest.param(
        "https://user:secret@example.com",
        "the address contains a user name or password; remove them, the token is enough",
        id="a password",
    ),
    pytest.param(
        "https://example.com/?a=b",
        "the address contains ? or #; enter only https://, the host and the path",
        id="a query",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD_ADDRESSES)
def test_an_address_that_is_not_safe_is_refused(given: str, message: str) -> None:
    """The token is only sent over safe connections, and a password in an address is not repeated."""
    assert refusal(base_url=given) == [
        f"IMPORTER_BASE_URL: the value is not valid: {message}; set by a command-line flag; fix it there"
    ]


BAD_PINGS = [
    pytest.param(
        "hc.example.com", "it is not a valid address; write it like https://hc.example.com/ping/UUID", id="host"
    ),
    pytest.param(
        "https://user:secret@hc.example.com/ping/UUID",
        "the address contains a user name or password; remove them, its path is enough",
        id="a password",
    ),
    pytest.param(
        "https://hc.example.com/ping/UUID?status=up",
        "the address contains ? or #; enter it without, because /start and /fail are appended to it",
        id="a query",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD_PINGS)
def test_an_address_of_a_monitor_that_is_not_safe_is_refused(given: str, message: str) -> None:
    """In words for a monitor, not for the service."""
    assert refusal(ping_url=given) == [
        f"IMPORTER_PING_URL: the value is not valid: {message}; set by a command-line flag; fix it there"
    ]


@pytest.mark.parametrize(
    "given",
    [
        "socks5://proxy.example.com",
        "http://proxy.example.com",
        "http://pa55@proxy.example.com:80",
        "http://u:p/5@proxy.example.com",
        "proxy:8080",
    ],
)
def test_an_address_of_a_proxy_that_is_not_valid_is_refused(given: str) -> None:
    """The message shows the form, and never the value, which may contain a password."""
    assert refusal(proxy=given) == [
        "IMPORTER_PROXY: the value is not valid: write it like http://proxy.example.com:8080 or "
        "http://USER:PASSWORD@proxy.example.com:8080; set by a command-line flag; fix it there"
    ]


def test_all_invalid_settings_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two problems, two lines."""
    monkeypatch.setenv("IMPORTER_YES_NO", "ja")
    assert [line.split(":")[0] for line in refusal(concurrency=0)] == ["IMPORTER_CONCURRENCY", "IMPORTER_YES_NO"]


def test_an_invalid_setting_is_reported_with_its_source(folder: Path) -> None:
    """The hint names the source; in a file the name may be in lower case."""
    (folder / "user" / "importer").mkdir(parents=True)
    (folder / "user" / "importer" / "config.toml").write_text("concurrency = 0\nrate = 0\nmax_attempts = 0\n")
    (folder / "importer.toml").write_text("rate = 'fast'\nmax_attempts = 0\n")
    (folder / ".env").write_text("importer_max_attempts=many\nIMPORTER_RATE=\n")
    assert [line[line.index("set by ") :] for line in refusal()] == [
        f"set by {folder}/user/importer/config.toml; fix it there",
        "set by importer.toml; fix it there",
        "set by .env; fix it there",
    ]


def test_settings_about_trust_are_ignored_in_the_working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the user may set who shares the results folder, and where mappings may take files from."""
    own = folder / "user" / "importer" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("out_shared = 'group'\n")
    (folder / "importer.toml").write_text("out_shared = 'any'\n")
    (folder / ".env").write_text("IMPORTER_MAPPING_FOLDERS=/\n")
    refused = "this setting is ignored in files of the working folder, because someone else may have written them"
    assert refusal() == [
        f"IMPORTER_{name.upper()}: {refused}; remove it from {source}; if you need it, set IMPORTER_{name.upper()} in "
        f"the environment, or {name} in {own}"
        for name, source in (("out_shared", "importer.toml"), ("mapping_folders", ".env"))
    ]
    monkeypatch.setenv("IMPORTER_OUT_SHARED", "no")
    monkeypatch.setenv("IMPORTER_MAPPING_FOLDERS", "/data")
    assert (load_settings().out_shared, load_settings().mapping_folders) == ("no", "/data")
    for name in ("OUT_SHARED", "MAPPING_FOLDERS"):
        monkeypatch.delenv(f"IMPORTER_{name}")
    (folder / "importer.toml").unlink()
    (folder / ".env").unlink()
    assert load_settings().out_shared == "group"


def test_empty_and_foreign_variables_are_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is how a scheduler unsets one; an unknown name may belong to another program."""
    (folder / ".env").write_text("\ufeffIMPORTER_CONCURRENCY=3\nIMPORTER_BENCH_CACHE=x\nOTHER=1\n", "utf-8")
    monkeypatch.setenv("IMPORTER_CONCURRENCY", "")
    monkeypatch.setenv("IMPORTER_BENCH_CACHE", "y")
    assert load_settings().concurrency == 3


def test_a_misspelled_variable_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it were ignored, a run would not apply the limit that the user meant to set."""
    (folder / ".env").write_text("IMPORTER_RAT=5\n")
    monkeypatch.setenv("IMPORTER_RESEND_DELAY_SECOND", "4")
    assert refusal() == [
        ".env: unknown setting IMPORTER_RAT; did you mean IMPORTER_RATE?",
        "the environment: unknown setting IMPORTER_RESEND_DELAY_SECOND; did you mean IMPORTER_RESEND_DELAY_SECONDS?",
    ]


def test_problems_of_all_sources_are_reported_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown name does not hide an invalid value, and a broken line does not hide other files."""
    (folder / "importer.toml").write_text("concurency = 2\nrate = 'fast'\n")
    (folder / ".env").write_text("IMPORTER_MAX_ATTEMPTS=3\nIMPORTER_OUT here\n")
    monkeypatch.setenv("IMPORTER_RESEND_DELAY_SECONDS", "inf")
    assert [line.split(";")[0] for line in refusal()] == [
        "importer.toml: unknown setting 'concurency'",
        ".env: line 2 cannot be read",
        "IMPORTER_RATE: the value is not valid: input should be a valid number, unable to parse string as a number",
        "IMPORTER_RESEND_DELAY_SECONDS: the value is not valid: input should be a finite number",
    ]


def test_the_token_of_the_first_source_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token determines the company, so a token of a later source must not win, in either form."""
    (folder / "near").write_text("near")
    (folder / "near").chmod(0o600)
    (folder / "importer.toml").write_text("token = 'far'\n")
    monkeypatch.setenv("IMPORTER_TOKEN_FILE", str(folder / "near"))
    assert load_settings().access_token() == "near"
    monkeypatch.setenv("IMPORTER_TOKEN", "nearest")
    assert load_settings().access_token() == "nearest"


YES_NO = [
    pytest.param("yes_no = 5", id="a number"),
    pytest.param("yes_no = {yes = 'ja', no = 'nein'}", id="a table"),
    pytest.param("yes_no = ['ja', ' ']", id="a blank"),
    pytest.param("""yes_no = '["ja","nein"]'""", id="a list in a text"),
]


@pytest.mark.parametrize("line", YES_NO)
def test_yes_no_requires_two_words(folder: Path, line: str) -> None:
    """Anything else would be sent to the service as an answer."""
    (folder / "importer.toml").write_text(line)
    [problem] = refusal()
    assert "enter two words, the word for yes first: yes,no" in problem
    (folder / "importer.toml").write_text("yes_no = [' ja ', 'nein']")
    assert load_settings().yes_no == ("ja", "nein")


def test_the_settings_of_answers_reach_the_format_that_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each setting of what the service description does not define is part of the format."""
    monkeypatch.setenv("IMPORTER_CURRENTLY_FLAGS", "always")
    monkeypatch.setenv("IMPORTER_QUESTION_REFERENCE", "id")
    assert load_settings().wire == WireFormat(currently_flags="always", question_reference="id")


def test_an_impossible_path_is_reported(folder: Path) -> None:
    """TOML can contain a NUL character, but a path cannot."""
    (folder / "importer.toml").write_text('out = "a\\u0000b"')
    assert [line.split(";")[0] for line in refusal()] == [
        "IMPORTER_OUT: the value is not valid: a path cannot contain a NUL character"
    ]


def test_a_person_without_a_home_has_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the user may have no home folder."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert load_settings().concurrency == 8


def test_an_env_file_that_is_not_text_is_reported(folder: Path) -> None:
    """A spreadsheet program may have saved it."""
    (folder / ".env").write_bytes("IMPORTER_TOKEN=ä".encode("utf-16"))
    [line] = refusal()
    assert line.startswith(".env: the file cannot be read: ")
    assert line.endswith("save it as UTF-8 text")


def test_a_misspelled_setting_is_reported(folder: Path) -> None:
    """If it were ignored, the default would be used silently."""
    (folder / "importer.toml").write_text("concurency = 2\nIMPORTER_RATE = 3\n")
    assert refusal() == [
        "importer.toml: unknown setting 'concurency'; did you mean 'concurrency'?",
        "importer.toml: unknown setting 'IMPORTER_RATE'; did you mean 'rate'?",
    ]


def test_a_settings_file_that_is_not_toml_is_reported_with_its_line(folder: Path) -> None:
    """The message contains the position from the parser."""
    (folder / "importer.toml").write_text("concurrency: 2\n")
    assert refusal() == [
        "importer.toml: the file cannot be read: Expected '=' after a key in a key/value pair (at line 1, column 12); "
        "fix this line; write a setting like concurrency = 4"
    ]


def test_a_token_comes_from_a_file(folder: Path) -> None:
    """The file contains only the token; a line end is removed."""
    (folder / "token").write_text("s3cret\n")
    (folder / "token").chmod(0o600)
    settings = load_settings(token_file=folder / "token")
    assert settings.access_token() == "s3cret"
    assert "s3cret" not in repr(settings)


TOKENS = [
    pytest.param("", "IMPORTER_TOKEN: the access token is not set; set IMPORTER_TOKEN", id="none"),
    pytest.param(
        "two words", "IMPORTER_TOKEN: the token contains spaces or characters that are not allowed", id="a blank"
    ),
    pytest.param("tök", "IMPORTER_TOKEN: the token contains spaces or characters that are not allowed", id="not ASCII"),
]


@pytest.mark.parametrize(("token", "message"), TOKENS)
def test_a_token_that_cannot_go_into_a_header_is_refused(
    monkeypatch: pytest.MonkeyPatch, token: str, message: str
) -> None:
    """The message does not repeat it."""
    monkeypatch.setenv("IMPORTER_TOKEN", token)
    with pytest.raises(UnusableInput) as refused:
        load_settings().access_token()
    assert str(refused.value).startswith(message)
    assert not token or token not in str(refused.value)


def test_a_missing_token_file_is_reported(folder: Path) -> None:
    """With its source and what to do; without the path, which may be the token itself."""
    with pytest.raises(UnusableInput) as refused:
        load_settings(token_file=Path("no-token")).access_token()
    assert str(refused.value) == (
        "IMPORTER_TOKEN_FILE: the token file cannot be read: No such file or directory; the path is set by a "
        "command-line flag; set IMPORTER_TOKEN_FILE to the path of a file that contains only the token"
    )


HINT = "a settings file must be a small text file; check this file"
NO_SETTINGS = [
    pytest.param("importer.toml", os.mkfifo, "it is not a regular file", id="a pipe"),
    pytest.param(".env", os.mkfifo, "it is not a regular file", id="a pipe as .env"),
    pytest.param("user/importer/config.toml", lambda path: path.symlink_to("/dev/zero"), "it is not a regular file"),
    pytest.param(".env", lambda path: path.symlink_to("/dev/zero"), "it is not a regular file", id="a device"),
    pytest.param("importer.toml", lambda path: path.mkdir(), "it is not a regular file", id="a folder"),
    pytest.param("importer.toml", lambda path: path.write_bytes(b"#" * 16385), "it has more than 16,384 bytes"),
    pytest.param(".env", lambda path: path.write_bytes(b"#" * 65537), "it has more than 65,536 bytes", id="large"),
]


@pytest.mark.skipif(os.name == "nt", reason="it has none of these")
@pytest.mark.parametrize(("name", "make", "message"), NO_SETTINGS)
def test_settings_come_from_small_regular_files(
    folder: Path, name: str, make: Callable[[Path], object], message: str
) -> None:
    """A file that is endless or too large is reported before it is read."""
    (folder / "user" / "importer").mkdir(parents=True)
    make(folder / name)
    place = folder / name if name.startswith("user") else name
    assert refusal() == [f"{place}: the file cannot be read: {message}; {HINT}"]


def test_a_file_of_ever_so_many_gigabytes_is_not_read(folder: Path) -> None:
    """Its size is known before."""
    with (folder / "importer.toml").open("wb") as file:
        file.truncate(8 << 30)
    assert refusal() == [f"importer.toml: the file cannot be read: it has more than 16,384 bytes; {HINT}"]


def test_a_folder_called_env_is_passed_over(folder: Path) -> None:
    """Some keep their virtual environment there."""
    (folder / ".env").mkdir()
    assert load_settings().concurrency == 8


def test_deeply_nested_brackets_are_reported(folder: Path) -> None:
    """As many as fit: the reader of TOML gives up at some hundreds."""
    (folder / "importer.toml").write_text("out = " + "[" * 16_000)
    assert refusal() == [
        "importer.toml: the file cannot be read: its brackets are nested too deeply; "
        "fix this line; write a setting like concurrency = 4"
    ]


def test_a_deeply_nested_word_for_yes_is_reported(folder: Path) -> None:
    """A value of any shape is a message, and no traceback."""
    (folder / "importer.toml").write_text(f"yes_no = [{{{'.'.join('a' * 5_000)} = 1}}, 'no']")
    assert "enter two words, the word for yes first: yes,no" in refusal()[0]


def test_variables_in_env_are_not_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of another tool goes nowhere because a folder's .env names it."""
    monkeypatch.setenv("SECRET_OF_ANOTHER_TOOL", "s3cret")
    (folder / ".env").write_text('IMPORTER_OUT="${SECRET_OF_ANOTHER_TOOL}"\nexport IMPORTER_LEDGER=$HOME/x # mine\n')
    assert str(load_settings().out) == "${SECRET_OF_ANOTHER_TOOL}"
    assert load_settings().ledger_address.location == "$HOME/x"


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name not in ("token", "out", "ledger")])
def test_a_token_in_the_wrong_setting_is_not_repeated(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whichever setting the token was put into by mistake."""
    monkeypatch.setenv(f"IMPORTER_{name.upper()}", "sk-4f2c9a1b")
    with pytest.raises(UnusableInput) as refused:
        load_settings().access_token()
    assert "4f2c9a" not in str(refused.value)


def test_a_relative_folder_of_the_user_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would lead into the working folder, whose settings are not the person's own."""
    (folder / "importer").mkdir()
    (folder / "importer" / "config.toml").write_text("in_flight = 2\n")
    monkeypatch.setenv("HOME", ".")
    for relative in ("", "."):
        monkeypatch.setenv("XDG_CONFIG_HOME", relative)
        assert load_settings().concurrency == 8


@pytest.mark.skipif(os.name == "nt", reason="its rights are kept in another way")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_token_that_others_can_read_is_refused(folder: Path, mode: int) -> None:
    """In a token file or a settings file; the hint is the command that fixes it."""
    (folder / "my token").write_text("s3cret")
    (folder / "my token").chmod(mode)
    with pytest.raises(UnusableInput) as refused:
        load_settings(token_file=folder / "my token").access_token()
    assert str(refused.value) == (
        f"{folder}/my token: other users of this computer can read the access token in this file (mode 0{mode:o}); "
        f"run: chmod 600 '{folder}/my token'"
    )
    (folder / ".env").write_text("IMPORTER_TOKEN=s3cret\n")
    (folder / ".env").chmod(mode)
    with pytest.raises(UnusableInput, match=r"run: chmod 600 \.env"):
        load_settings().access_token()
    (folder / ".env").chmod(0o600)
    assert load_settings().access_token() == "s3cret"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_the_secret_of_a_container_is_accepted(folder: Path) -> None:
    """It has mode 0444 and another owner: the user cannot change that."""
    (folder / "secret").write_text("s3cret")
    (folder / "secret").chmod(0o444)
    os.chown(folder / "secret", 12345, 12345)
    assert load_settings(token_file=folder / "secret").access_token() == "s3cret"
