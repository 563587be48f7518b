"""Which transport carries the requests: pycurl where it is installed and new enough, else requests."""

from __future__ import annotations

from typing import Literal

from importer.errors import UnusableInput
from importer.models import FilePlace, Problem
from importer.service.transport_api import Limits, Transport

Wish = Literal["auto", "requests", "curl"]

_OLDEST_LIBCURL = 0x081600  # 8.22.0: older ones do not tell on which connection a request is while it is under way
# Without the first a POST could leave twice: libcurl asks before it sends.
_NEEDED = ("PREREQFUNCTION", "ACTIVESOCKET", "RETRY_AFTER")


def chosen_transport(limits: Limits, connections: int, wish: Wish = "auto") -> Transport:
    """The transport of `transport_name`.

    Raises:
        UnusableInput: curl is wished for, and cannot be used.
    """
    # Only the library that is used is loaded: each takes its time.
    if transport_name(wish) == "curl":
        from importer.service.curl_transport import CurlTransport

        return CurlTransport(limits, connections)
    from importer.service.requests_transport import RequestsTransport

    return RequestsTransport(limits, connections)


def transport_name(wish: Wish = "auto") -> Literal["requests", "curl"]:
    """Which of the two it is.

    Raises:
        UnusableInput: curl is wished for, and cannot be used.
    """
    if wish == "requests":
        return "requests"
    why_not = _why_not_curl()
    if not why_not:
        return "curl"
    if wish == "curl":
        raise UnusableInput(
            Problem(
                "transport-missing",
                f"requests cannot go over curl: {why_not}",
                "install it with: pip install 'importer[fast]'; or leave this setting out",
                FilePlace("IMPORTER_TRANSPORT"),
            )
        )
    return "requests"


def describe_transport(wish: Wish = "auto") -> str:
    """For a person: which one it is, and how to have the other.

    Raises:
        UnusableInput: curl is wished for, and cannot be used.
    """
    if transport_name(wish) == "curl":
        import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

        version = pycurl.version.split()[0].removeprefix("PycURL/")
        return f"pycurl {version} (IMPORTER_TRANSPORT=requests takes requests instead)"
    if wish == "requests":
        return "requests, as IMPORTER_TRANSPORT says"
    return f"requests ({_why_not_curl()}; pip install 'importer[fast]' makes importer faster)"


def _why_not_curl() -> str:
    """ "" where it can be used."""
    try:
        import pycurl
    except ImportError:
        return "pycurl is not installed"
    if not all(hasattr(pycurl, name) for name in _NEEDED):
        return "pycurl is older than 7.48"
    if pycurl.version_info()[2] < _OLDEST_LIBCURL:
        return "its libcurl is older than 8.22"
    return ""
