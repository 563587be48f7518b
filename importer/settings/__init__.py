"""Settings; the first source wins: flag, environment (IMPORTER_*), .env, importer.toml, the user's own file."""

from __future__ import annotations

import ipaddress
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
)

from importer.files import can_be_made_private, mode_for_others, read_regular
from importer.problems import Problem, UnusableInput, file_problem, unusable_file
from importer.settings.files import (
    ENVIRONMENT,
    PREFIX,
    SettingSource,
    from_env_file,
    from_toml,
    settings_in,
    unknown_in,
    user_file,
)
from importer.settings.trust import FolderSetting, is_confirmed

PROJECT_FILE: Final = Path("importer.toml")
_ENV_FILE: Final = Path(".env")
_PORTS: Final = {"https": 443, "http": 80}
_TOKENS: Final = ("token", "token_file")  # two ways to set the same
# An untrusted working folder must not change these.
_USER_ONLY: Final = (
    *("out_shared", "mapping_folders"),
    *("upload_path", "upload_form", "upload_field", "upload_fields", "upload_id_at", "upload_types"),
)
# What the user confirms if the working folder sets it: an address, a path outside that folder, or these anywhere.
_CONFIRMED: Final = (
    *("ledger", "ledger_key_file", "out", "metrics_folder"),
    *("ping_url", "notify_file", "proxy", "ca_file"),
)
_ANYWHERE: Final = ("notify_file", "ca_file")
_MAX_TOKEN_BYTES: Final = 64 << 10  # bytes


def _checked_base_url(url: str) -> str:
    """The normalized address: https only, except for this computer, as the token and personal data are sent there.

    Normalized, because the ledger identifies services by it.
    """
    return _checked_address(
        url,
        example="https://recruiting.example.com",
        secret="the token is enough",
        form="enter only https://, the host and the path",
    )


def _checked_address(url: str, *, example: str, secret: str, form: str) -> str:
    """A normalized address. example, secret, form: what to enter. No message repeats it: it may contain a secret."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in _PORTS or any(char.isspace() or not char.isprintable() for char in url.strip()):
        raise ValueError(f"it is not a valid address; write it like {example}")
    if parts.username or parts.password:
        raise ValueError(f"the address contains a user name or password; remove them, {secret}")
    if parts.query or parts.fragment:
        raise ValueError(f"the address contains ? or #; {form}")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("the address is not encrypted; use https (http is only allowed for this computer)")
    netloc = f"[{host}]" if ":" in host else host
    if port not in (None, _PORTS[parts.scheme]):
        netloc += f":{port}"
    return f"{parts.scheme}://{netloc}{parts.path}".rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether it is this machine, whatever its network is."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class WireFormat:
    """Formats of answers that the service description does not define, so they are settings."""

    multiple_choice: Literal["json", "comma", "semicolon", "newline"] = "json"
    yes_no: tuple[str, str] = ("yes", "no")
    question_reference: Literal["object", "id"] = "object"
    currently_flags: Literal["when_true", "always"] = "when_true"
    short_text_limit: int | None = None  # characters; None: unlimited

    @property
    def choice_separator(self) -> str:
        """The separator of several choices in one answer; "" if they are a JSON array."""
        return {"json": "", "comma": ",", "semicolon": ";", "newline": "\n"}[self.multiple_choice]


@dataclass(frozen=True, slots=True)
class UploadForm:
    """How a document is uploaded, which the service description does not show.

    path: of the operation, from the origin of the service. form: of the request. field: the name of the file in it.
    fields: further ones, in which {name} is the name of the file. id_at: where the answer has the ID (a JSON Pointer).
    types: the kinds that the service takes, such as pdf; (): all.
    """

    path: str
    form: Literal["multipart", "raw", "base64_json"]
    field: str
    fields: Mapping[str, str]
    id_at: str
    most_bytes: int
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerAddress:
    """Where a ledger is kept, and how long a run waits for its server.

    location: the path of a file, `sqlite:///PATH` or `postgresql://...`; may contain a password. key_file: the file
    with the key by which people are known; None: beside the file. patience: in seconds.
    """

    location: str = field(repr=False)
    key_file: Path | None = None
    patience: float = 300.0


class Settings(BaseModel):
    """The settings. Each field is IMPORTER_<NAME> in the environment."""

    model_config = ConfigDict(allow_inf_nan=False)

    base_url: Annotated[str, AfterValidator(_checked_base_url)] | None = None
    token: SecretStr | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    proxy: SecretStr | None = None
    out: Path = Path("results")
    out_shared: Literal["no", "group", "any"] = "no"
    ledger: str | None = None
    ledger_key_file: Path | None = None
    concurrency: int = Field(default=8, ge=1, le=256)
    rate: float | None = Field(default=None, gt=0)
    max_attempts: int = Field(default=6, ge=1, le=50)
    connect_timeout: float = Field(default=10, gt=0)
    read_timeout: float = Field(default=30, gt=0)
    total_timeout: float = Field(default=60, gt=0)
    resend_delay_seconds: float = Field(default=60, ge=0)
    give_up_minutes: float = Field(default=15, gt=0, le=24 * 60)
    multiple_choice: Literal["json", "comma", "semicolon", "newline"] = "json"
    yes_no: tuple[str, str] = ("yes", "no")
    question_reference: Literal["object", "id"] = "object"
    currently_flags: Literal["when_true", "always"] = "when_true"
    options_separator: str | None = None
    short_text_limit: int | None = Field(default=None, ge=1)
    pool_exists: str | None = None  # words of the 400 by which a pool says that it has the candidate already
    upload_path: Annotated[str, Field(pattern=r"^/[A-Za-z0-9_./~-]*$")] | None = None
    upload_form: Literal["multipart", "raw", "base64_json"] = "multipart"
    upload_field: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] = "file"
    upload_fields: dict[str, str] = {}
    upload_id_at: Annotated[str, Field(pattern=r"^(/[^/]+)+$")] | None = None
    upload_types: tuple[Literal["pdf", "docx", "doc", "rtf", "jpg", "png", "gif", "txt"], ...] | None = None
    document_megabytes: int = Field(default=20, ge=1, le=100)
    strict: bool = False
    notify: Literal["always", "problems"] = "problems"
    notify_file: Path | None = None
    ping_url: SecretStr | None = None
    metrics_folder: Path | None = None
    mapping_folders: str | None = None  # more folders for files of mappings, separated as in PATH

    _set_by: dict[str, SettingSource] = PrivateAttr(default_factory=dict)

    @field_validator("yes_no", mode="before")
    @classmethod
    def _two_words(cls, value: Any) -> Any:
        """`ja,nein` in the environment is what `["ja", "nein"]` is in importer.toml."""
        given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        words = [str(word).strip() for word in given if not isinstance(word, (list, dict))]
        if len(words) != 2 or not all(words) or any(char in word for word in words for char in '[]"'):
            raise ValueError("enter two words, the word for yes first: yes,no")
        return tuple(words)

    @field_validator("ping_url")
    @classmethod
    def _valid_ping_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            _checked_address(
                value.get_secret_value(),
                example="https://hc.example.com/ping/UUID",
                secret="its path is enough",
                form="enter it without, because /start and /fail are appended to it",
            )
        return value

    @field_validator("proxy")
    @classmethod
    def _valid_proxy(cls, value: SecretStr | None) -> SecretStr | None:
        form = r"http://([^\s/@?#:]+:[^\s/@?#:]*@)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}"
        if value is not None and not re.fullmatch(form, value.get_secret_value(), re.ASCII):
            raise ValueError(
                "write it like http://proxy.example.com:8080 or http://USER:PASSWORD@proxy.example.com:8080"
            )
        return value

    def proxy_for(self, base_url: str | None) -> str:
        """The proxy for that service, with its password; "" if there is none, as for this machine."""
        is_here = is_loopback(urlsplit(base_url or "").hostname or "")
        return "" if is_here or self.proxy is None else self.proxy.get_secret_value()

    @field_validator(
        "out", "token_file", "ca_file", "ledger", "ledger_key_file", "mapping_folders", "notify_file", "metrics_folder"
    )
    @classmethod
    def _valid_path(cls, value: Any) -> Any:
        if "\0" in str(value):
            raise ValueError("a path cannot contain a NUL character")
        return value

    @property
    def upload(self) -> UploadForm | None:
        """How documents are uploaded; None: they are not, and their IDs are in documents.csv.

        Raises UnusableInput: it is not said where the answer has the ID.
        """
        if self.upload_path is None:
            return None
        if self.upload_id_at is None:
            message = "upload_path is set, but not where the answer of the service has the ID of the document"
            hint = "set it like /id; importer doctor --try-upload FILE shows an answer"
            raise unusable_file("setting-invalid", message, hint, "IMPORTER_UPLOAD_ID_AT")
        most = self.document_megabytes * 1024 * 1024
        fields = self.upload_field, self.upload_fields, self.upload_id_at
        return UploadForm(self.upload_path, self.upload_form, *fields, most, self.upload_types or ())

    @property
    def wire(self) -> WireFormat:
        return WireFormat(
            self.multiple_choice, self.yes_no, self.question_reference, self.currently_flags, self.short_text_limit
        )

    @property
    def ledger_address(self) -> LedgerAddress:
        """Where the ledger is kept, for `open_ledger`: by default a file in the results folder."""
        location = self.ledger if self.ledger is not None else str(self.out / "ledger.sqlite")
        # Less than the time after which a run gives up the service, which is not at fault.
        return LedgerAddress(location, self.ledger_key_file, min(300.0, self.give_up_minutes * 30))

    def access_token(self) -> str:
        """The access token for the address of these settings.

        Raises UnusableInput: it is missing, not valid, not readable, or readable by others, or the address was not
        confirmed.
        """
        use = self.unconfirmed_use()
        if problems := [*([use.refusal()] if use else []), *self._readable_by_others()]:
            raise UnusableInput(problems)
        return self._read_token()

    def unconfirmed_use(self) -> FolderSetting | None:
        """The use of the token that the user has to confirm before anything is sent, see `trust`."""
        address = self._set_by.get("base_url")
        token = self._set_by.get("token") or self._set_by.get("token_file")
        if self.base_url is None or address is None or token is None or not address.in_working_folder:
            return None
        folder, text = Path.cwd().resolve(), "your token"
        if token.in_working_folder:
            file = Path(os.path.realpath(self.secret_file() or folder))
            text = f"the token in {file}"
            if file.is_relative_to(folder):
                if not file.is_file() or (found := file.stat()).st_nlink == 1:
                    return None
                text += f" (a hard link of file {found.st_ino})"
        use = FolderSetting(str(folder), address.name, f"{PREFIX}BASE_URL", self.base_url, text)
        return None if is_confirmed(use) else use

    def unconfirmed_settings(self) -> list[FolderSetting]:
        """What the working folder sets that sends something somewhere or writes outside it, and is not confirmed."""
        folder, found = Path.cwd().resolve(), []
        for name in _CONFIRMED:
            source, value = self._set_by.get(name), getattr(self, name)
            if source is None or value is None or not source.in_working_folder:
                continue
            text = value.get_secret_value() if isinstance(value, SecretStr) else str(value).removeprefix("sqlite:///")
            if "://" not in text:
                text = os.path.realpath(text)
                if name not in _ANYWHERE and Path(text).is_relative_to(folder):
                    continue
            found.append(FolderSetting(str(folder), source.name, f"{PREFIX}{name.upper()}", text))
        return [one for one in found if not is_confirmed(one)]

    def secret_file(self) -> Path | None:
        """The file with the token: the token file, or a settings file."""
        if self.token is None:
            return self.token_file
        source = self._set_by.get("token")  # none if these settings were not loaded from a source
        return source.file if source else None

    def _readable_by_others(self) -> list[Problem]:
        file = self.secret_file()
        try:
            mode = file and mode_for_others(file)
            if not file or not mode or not can_be_made_private(file):
                return []
        except OSError:  # reported when the file is read
            return []
        message = f"other users of this computer can read the access token in this file (mode {mode:04o})"
        return [file_problem("token-readable-by-others", message, f"run: chmod 600 {shlex.quote(str(file))}", file)]

    def _read_token(self) -> str:
        if self.token is not None:
            return _usable_token(self.token.get_secret_value(), "IMPORTER_TOKEN")
        if self.token_file is not None:
            try:
                text = read_regular(self.token_file, _MAX_TOKEN_BYTES).decode()
            except (OSError, UnicodeDecodeError) as error:
                # Without the path: the user may have set the token itself by mistake.
                source = self._set_by.get("token_file")
                where = f"the path is set by {source.name}; " if source else ""
                raise unusable_file(
                    "token-invalid",
                    f"the token file cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}",
                    f"{where}set IMPORTER_TOKEN_FILE to the path of a file that contains only the token",
                    "IMPORTER_TOKEN_FILE",
                ) from None
            return _usable_token(text, str(self.token_file))
        raise unusable_file(
            "token-missing",
            "the access token is not set",
            "set IMPORTER_TOKEN, or IMPORTER_TOKEN_FILE to a file that contains it (in the environment or in "
            ".env); or try it with --sandbox, which needs no token",
            "IMPORTER_TOKEN",
        )

    def service_url(self) -> str:
        """The base URL of the service. Raises UnusableInput: it is not set."""
        if self.base_url is None:
            raise unusable_file(
                "base-url-missing",
                "the address of the recruiting service is not set",
                "set IMPORTER_BASE_URL, like https://recruiting.example.com (in the environment, in .env, or "
                "base_url in importer.toml); or try it with --sandbox, which needs no address",
                "IMPORTER_BASE_URL",
            )
        return self.base_url


def _usable_token(text: str, place: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or any(char.isspace() or not char.isprintable() for char in token):
        raise unusable_file(
            "token-invalid",
            "the token is empty" if not token else "the token contains spaces or characters that are not allowed",
            "copy the token again, on one line and without spaces",
            place,
        )
    return token


def load_settings(*, only_confirmed: bool = True, given_by: str = "a command-line flag", **flags: Any) -> Settings:
    """Load the settings. A flag that is None is not set. only_confirmed: refuse those that the user has to confirm.

    Raises UnusableInput: with every setting that is not valid or not confirmed, and where it was set.
    """
    problems: list[Problem] = []
    user, known = user_file(), Settings.model_fields
    sources = [
        (SettingSource(str(user), user), from_toml(user, known, problems) if user is not None else {}),
        (
            SettingSource(str(PROJECT_FILE), PROJECT_FILE, in_working_folder=True),
            from_toml(PROJECT_FILE, known, problems),
        ),
        (
            SettingSource(str(_ENV_FILE), _ENV_FILE, in_working_folder=True),
            settings_in(from_env_file(_ENV_FILE, problems), str(_ENV_FILE), known, problems),
        ),
        (SettingSource(ENVIRONMENT), settings_in(os.environ, ENVIRONMENT, known, problems)),
        (SettingSource(given_by), {name: value for name, value in flags.items() if value is not None}),
    ]
    values: dict[str, Any] = {}
    set_by: dict[str, SettingSource] = {}
    for source, found in sources:  # the last one wins
        # Both ways to set a token count as one setting: a token file must win over a token of a later source.
        if any(name in found for name in _TOKENS):
            for name in _TOKENS:
                values.pop(name, None)
                set_by.pop(name, None)
        values |= found
        set_by |= dict.fromkeys(found, source)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_invalid_setting(item, set_by) for item in error.errors()]
    problems += [
        _untrusted_source(name, set_by[name])
        for name in _USER_ONLY
        if name in set_by and set_by[name].in_working_folder
    ]
    if problems:
        raise UnusableInput(problems)
    settings._set_by = set_by
    if only_confirmed and (unconfirmed := settings.unconfirmed_settings()):
        raise UnusableInput([one.refusal() for one in unconfirmed])
    return settings


def _invalid_setting(item: Any, set_by: Mapping[str, SettingSource]) -> Problem:
    """The problem of a value that is not valid. The value is not repeated: it may be a token, set by mistake."""
    name = str(item["loc"][0])
    message = str(item["msg"]).removeprefix("Value error, ")
    source = set_by[name].name
    if source == ENVIRONMENT:
        source = f"the environment variable {PREFIX}{name.upper()}"
    message = f"the value is not valid: {message[:1].lower()}{message[1:]}"
    return file_problem("setting-invalid", message, f"set by {source}; fix it there", f"{PREFIX}{name.upper()}")


def unknown_variables() -> list[str]:
    """The variables of the environment and of .env that are named like settings, and are none."""
    return unknown_in({**from_env_file(_ENV_FILE, []), **os.environ}, Settings.model_fields)


def _untrusted_source(name: str, source: SettingSource) -> Problem:
    """The problem of a setting about trust in a file of the working folder, which others may have written."""
    user, variable = user_file(), f"{PREFIX}{name.upper()}"
    own_file = f", or {name} in {user}" if user else ""
    message = "this setting is ignored in files of the working folder, because someone else may have written them"
    hint = f"remove it from {source.name}; if you need it, set {variable} in the environment{own_file}"
    return file_problem("setting-source-untrusted", message, hint, variable)
