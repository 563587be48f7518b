"""Reads what a person is reached by: e-mail addresses, phone numbers, web addresses.

The libraries take a while to load, and not every file has need of each, so that they are imported at the first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

from importer.mapping import ResolvedValue
from importer.transform.texts import Refusal, in_mapping, quoted

# --- e-mail addresses -----------------------------------------------------------------------------

_EMAIL_HINT = "write one address like name@example.com"
# Nearly every address is of this form, whose first part needs no more checks than these.
_PLAIN_EMAIL = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]+)")
_LONGEST_PLAIN = 64  # of the whole address: far below the limits that the library keeps


def read_email(text: str, typed: bool) -> str | Refusal:
    """The address with its domain in lower case; no look-up is made."""
    plain = _PLAIN_EMAIL.fullmatch(text) if len(text) <= _LONGEST_PLAIN else None
    domain = _read_domain(plain.group(2)) if plain else None
    if plain and domain:
        return f"{plain.group(1)}@{domain}"
    address, error = _read_address(text)
    return address or Refusal("email-unreadable", f"{quoted(text)} is no e-mail address: {error}", _EMAIL_HINT)


def _read_address(text: str) -> tuple[str, str]:
    """The address as the library writes it and "", or "" and why it is none."""
    from email_validator import EmailNotValidError, validate_email

    try:
        return validate_email(text, check_deliverability=False).normalized, ""
    except EmailNotValidError as error:
        reason = str(error).rstrip(".")
        return "", reason[:1].lower() + reason[1:]


@lru_cache(maxsize=4096)
def _read_domain(domain: str) -> str | None:
    """The domain as the library writes it, or None where it refuses it: of few domains are many addresses."""
    return _read_address(f"a@{domain}")[0].removeprefix("a@") or None


# --- phone numbers --------------------------------------------------------------------------------

_SHORTENED = re.compile(r"[0-9][.,]?[0-9]*E\+?[0-9]+", re.IGNORECASE)
# The library reads letters as the digits of their keys; before the number, as in `Tel. 0555 ...`, it leaves them out.
_LETTER_IN_NUMBER = re.compile(r"[+＋\d].*[^\W\d_]|[^\W\d_]\d", re.DOTALL)
_FLOAT_TAIL = re.compile(r"(?<=[0-9]{5})\.0$")  # a number column that some program kept as a float


def phone_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of phone numbers of the declared region, or of any with + and its country code; they become E.164."""

    def read(text: str, typed: bool) -> str | Refusal:
        if _SHORTENED.fullmatch(text):
            message = f"{quoted(text)} is a number that a spreadsheet program has shortened"
            return Refusal("phone-shortened", message, "format the column as text and type the number again")
        return _read_phone(_FLOAT_TAIL.sub("", text), value)

    return read


def _read_phone(text: str, value: ResolvedValue) -> str | Refusal:
    import phonenumbers

    region = value.formats.region
    # Without a region the library knows no international prefix, though 00 is one nearly everywhere.
    dialled = "+" + text[2:] if region is None and text.startswith("00") else text
    try:
        number = phonenumbers.parse(dialled, region)
    except phonenumbers.NumberParseException:
        return Refusal("phone-unreadable", f"{quoted(text)} is no phone number", _phone_hint(value))
    if number.extension and phonenumbers.is_valid_number(number):
        message = f"{quoted(text)} has the extension {number.extension}, which cannot be sent"
        return Refusal("phone-extension", message, "write the number without it")
    if _LETTER_IN_NUMBER.search(text):
        return Refusal("phone-letters", f"{quoted(text)} has letters in its number", "write the number in digits")
    if not phonenumbers.is_valid_number(number):
        return Refusal("phone-invalid", f"{quoted(text)} is no valid phone number", _phone_hint(value))
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _phone_hint(value: ResolvedValue) -> str:
    region = value.formats.region
    if region is None:
        return f"write it with + and the country code, or declare region: {in_mapping(value.place)}"
    import phonenumbers

    return f"write it as +{phonenumbers.country_code_for_region(region)} ..., or as people write it in {region}"


# --- web addresses --------------------------------------------------------------------------------

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(/|$))")  # host:8080 is no scheme
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[^\W\d_][\w-]*\.?|[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-f:]+:[0-9a-f.:]*")


def read_url(text: str, typed: bool) -> str | Refusal:
    """An http or https address. `linkedin.com/in/ada`, as people write it, gets https:// put before it."""
    address = text if _SCHEME.match(text) else f"https://{text.removeprefix('//')}"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return _no_url(text)
    if parts.scheme.lower() not in ("http", "https"):
        return _no_url(text, f": {parts.scheme}: cannot be sent")
    if host is None or not _HOST.fullmatch(host) or not address.isprintable() or " " in address:
        return _no_url(text)
    return address


def _no_url(text: str, reason: str = "") -> Refusal:
    return Refusal("url-unreadable", f"{quoted(text)} is no web address{reason}", "write it with https://")
