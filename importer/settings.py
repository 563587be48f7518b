"""Settings, first wins: flag, environment (IMPORTER_*), .env, importer.toml, the user's own file."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from importer.errors import UnusableInput
from importer.models import FilePlace, Problem, WireFormat

PROJECT_FILE: Final = Path("importer.toml")
_ENV_FILE: Final = Path(".env")
_PREFIX: Final = "IMPORTER_"  # of a setting's name in the environment and in .env
_PORTS: Final = {"https": 443, "http": 80}
_TOKENS: Final = ("token", "token_file")  # two ways to say the same
_SECRET: Final = ("token", "base_url", "ledger")  # of these a value that cannot be used is not repeated


def user_file() -> Path | None:
    """The settings file of the person, for all projects: importer/config.toml below their configuration folder.

    None where nobody knows where that is, as in a container.
    """
    try:
        if os.name == "nt":
            folder = os.environ.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
        else:
            folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    except RuntimeError:
        return None
    return Path(folder) / "importer" / "config.toml"


def _checked_base_url(url: str) -> str:
    """https only, except to this machine itself: the token and the candidates' data go over it.

    Written in one way, since the ledger knows rows by it. What may hold a password or be a token is not repeated.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in _PORTS or any(sign.isspace() or not sign.isprintable() for sign in url.strip()):
        raise ValueError("it is no address; write it like https://recruiting.example.com")
    if parts.username or parts.password:
        raise ValueError("the address holds a user name or password; take them out, the token is enough")
    if parts.query or parts.fragment:
        raise ValueError("the address ends in ? or #; give only scheme, host and path")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ValueError(f"{url!r} is not encrypted; only https is used, except to this machine itself")
    named = f"[{host}]" if ":" in host else host
    if port not in (None, _PORTS[parts.scheme]):
        named += f":{port}"
    return f"{parts.scheme}://{named}{parts.path}".rstrip("/")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Settings(BaseModel):
    """What a run needs to know beside its file and its mapping. Each field is IMPORTER_<NAME> in the environment."""

    model_config = ConfigDict(allow_inf_nan=False)

    base_url: Annotated[str, AfterValidator(_checked_base_url)] | None = None
    token: SecretStr | None = None
    token_file: Path | None = None
    out: Path = Path("results")
    out_shared: Literal["no", "group", "any"] = "no"
    ledger: str | None = None
    in_flight: int = Field(default=8, ge=1, le=256)
    rate: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=13, ge=1, le=50)
    connect_seconds: float = Field(default=10, gt=0)
    silence_seconds: float = Field(default=30, gt=0)
    answer_seconds: float = Field(default=60, gt=0)
    settle_seconds: float = Field(default=60, ge=0)
    give_up_minutes: float = Field(default=15, gt=0, le=24 * 60)
    multiple_choice: Literal["json", "comma", "semicolon", "newline"] = "json"
    yes_no: tuple[str, str] = ("yes", "no")
    question_reference: Literal["object", "id"] = "object"
    options_separator: str | None = None
    transport: Literal["auto", "requests", "curl"] = "auto"
    standard_input_megabytes: int = Field(default=2048, ge=1)
    source_megabytes: int = Field(default=4096, ge=1)
    csv_row_megabytes: int = Field(default=16, ge=1)
    csv_columns: int = Field(default=16_384, ge=1)
    mapping_folders: str | None = None  # where else mappings may take files from, as PATH lists folders
    workbook_seconds: float = Field(default=120, gt=0)
    workbook_memory_megabytes: int = Field(default=2048, ge=128)
    workbook_unpacked_megabytes: int = Field(default=2048, ge=1)

    @field_validator("yes_no", mode="before")
    @classmethod
    def _two_words(cls, value: Any) -> Any:
        """`ja,nein` in the environment is what `["ja", "nein"]` is in importer.toml."""
        given = value.split(",") if isinstance(value, str) else value
        words = [str(word).strip() for word in given] if isinstance(given, list) else []
        if len(words) != 2 or not all(words) or any(sign in word for word in words for sign in '[]"'):
            raise ValueError("give two words, the one for yes first: yes,no")
        return tuple(words)

    @field_validator("out", "token_file", "ledger", "mapping_folders")
    @classmethod
    def _a_path(cls, value: Any) -> Any:
        if "\0" in str(value):
            raise ValueError("no path holds a NUL")
        return value

    @property
    def wire(self) -> WireFormat:
        return WireFormat(self.multiple_choice, self.yes_no, self.question_reference)

    @property
    def standard_input_bytes(self) -> int:
        return self.standard_input_megabytes << 20

    def ledger_path(self) -> Path:
        """The SQLite file of the ledger, by default in the results folder.

        Raises:
            UnusableInput: IMPORTER_LEDGER is the URL of a database that this importer cannot use.
        """
        if self.ledger is None:
            return self.out / "ledger.sqlite"
        path = self.ledger.removeprefix("sqlite:///")
        if "://" in path:
            raise UnusableInput(
                Problem(
                    "ledger-unusable",
                    "the ledger can only be a SQLite file",
                    "set IMPORTER_LEDGER to the path of a file, or to sqlite:///PATH",
                    FilePlace("IMPORTER_LEDGER"),
                )
            )
        return Path(path)

    def access_token(self) -> str:
        """The bearer token.

        Raises:
            UnusableInput: there is none, its file cannot be read, or it cannot go into a header.
        """
        if self.token is not None:
            return _usable_token(self.token.get_secret_value(), "IMPORTER_TOKEN")
        if self.token_file is not None:
            try:
                text = self.token_file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UnusableInput(
                    Problem(
                        "token-file-unreadable",
                        f"the token file cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}",
                        "set IMPORTER_TOKEN_FILE to a file that holds the token and nothing else",
                        FilePlace(str(self.token_file)),
                    )
                ) from None
            return _usable_token(text, str(self.token_file))
        raise UnusableInput(
            Problem(
                "token-missing",
                "there is no access token",
                "set IMPORTER_TOKEN, or IMPORTER_TOKEN_FILE to a file that holds it (in the environment or in .env); "
                "or rehearse with --sandbox, which needs none",
                FilePlace("IMPORTER_TOKEN"),
            )
        )

    def service_url(self) -> str:
        """The base URL of the service.

        Raises:
            UnusableInput: none is set.
        """
        if self.base_url is None:
            raise UnusableInput(
                Problem(
                    "base-url-missing",
                    "the address of the recruiting service is not set",
                    "set IMPORTER_BASE_URL, like https://recruiting.example.com (in the environment, in .env, or "
                    "base_url in importer.toml); or rehearse with --sandbox, which needs none",
                    FilePlace("IMPORTER_BASE_URL"),
                )
            )
        return self.base_url


def _usable_token(text: str, place: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or any(sign.isspace() or not sign.isprintable() for sign in token):
        raise UnusableInput(
            Problem(
                "token-unusable",
                "the token is empty" if not token else "the token holds blanks or signs that no token has",
                "copy the token again, alone and on one line",
                FilePlace(place),
            )
        )
    return token


def load_settings(**flags: Any) -> Settings:
    """The settings of this run; flags that are None are left to the other sources.

    Raises:
        UnusableInput: every setting that cannot be used, with its name and where it was set.
    """
    problems: list[Problem] = []
    user = user_file()
    sources = {
        str(user): _of_toml(user, problems) if user is not None else {},
        str(PROJECT_FILE): _of_toml(PROJECT_FILE, problems),
        str(_ENV_FILE): _named(_of_env_file(problems), str(_ENV_FILE), problems),
        "the environment": _named(os.environ, "the environment", problems),
        "the flag of the same name": {name: value for name, value in flags.items() if value is not None},
    }
    values: dict[str, Any] = {}
    set_by: dict[str, str] = {}
    for source, named in sources.items():  # the last one wins
        # Of the two ways to name a token both at once, or a near token file would lose to a far token.
        if any(name in named for name in _TOKENS):
            values = {name: value for name, value in values.items() if name not in _TOKENS}
        values |= named
        set_by |= dict.fromkeys(named, source)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_setting_problem(item, set_by) for item in error.errors()]
    if problems:
        raise UnusableInput(problems)
    return settings


def _of_toml(file: Path, problems: list[Problem]) -> dict[str, Any]:
    """What a file sets. A misspelt setting would be passed over without a word, and its default taken: it is told."""
    if not file.is_file():
        return {}
    import tomllib  # few have such a file

    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "mend this line; a setting is written like in_flight = 4"
        problems.append(Problem("settings-unreadable", f"it cannot be read: {error}", hint, FilePlace(str(file))))
        return {}
    known = list(Settings.model_fields)
    for key in found:
        if key not in known:
            near = _nearest(key.lower().removeprefix(_PREFIX.lower()))
            hint = f"did you mean {near!r}?" if near else f"the settings are {', '.join(known)}"
            problems.append(Problem("setting-unknown", f"there is no setting {key!r}", hint, FilePlace(str(file))))
    return {key: value for key, value in found.items() if key in known}


def _of_env_file(problems: list[Problem]) -> Mapping[str, str | None]:
    if not _ENV_FILE.is_file():
        return {}
    from dotenv import dotenv_values  # few have such a file
    from dotenv.parser import parse_stream

    place = FilePlace(str(_ENV_FILE))
    try:
        with _ENV_FILE.open(encoding="utf-8-sig") as file:  # some editors put the mark in front
            broken = [binding.original.line for binding in parse_stream(file) if binding.error]
        found = {} if broken else dotenv_values(_ENV_FILE, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message, hint = f"it cannot be read: {error}", "save it as UTF-8 text"
        problems.append(Problem("settings-unreadable", message, hint, place))
        return {}
    for line in broken:
        message, hint = f"line {line} cannot be read", "mend it; a setting is written like IMPORTER_IN_FLIGHT=4"
        problems.append(Problem("settings-unreadable", message, hint, place))
    return found


def _named(environment: Mapping[str, str | None], source: str, problems: list[Problem]) -> dict[str, str]:
    """The settings among variables, in upper or lower case; an empty one is as good as none.

    A variable that looks like one of ours and is none is told. Others may be for somebody else.
    """
    named: dict[str, str] = {}
    for variable, value in environment.items():
        if not value or not variable.upper().startswith(_PREFIX):
            continue
        name = variable.upper().removeprefix(_PREFIX).lower()
        if name in Settings.model_fields:
            named[name] = value
        elif near := _nearest(name):
            message, hint = f"there is no setting {variable}", f"did you mean {_PREFIX}{near.upper()}?"
            problems.append(Problem("setting-unknown", message, hint, FilePlace(source)))
    return named


def _nearest(name: str) -> str | None:
    import difflib  # seldom needed

    return next(iter(difflib.get_close_matches(name, list(Settings.model_fields), n=1)), None)


def _setting_problem(item: Any, set_by: Mapping[str, str]) -> Problem:
    name = str(item["loc"][0])
    message = str(item["msg"]).removeprefix("Value error, ")
    what = "this setting" if name in _SECRET else repr(str(item["input"]))
    return Problem(
        "setting-unusable",
        f"{what} cannot be used: {message[:1].lower()}{message[1:]}",
        f"it was set by {set_by[name]}: mend it there",
        FilePlace(f"{_PREFIX}{name.upper()}"),
    )
