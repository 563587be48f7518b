"""Which certificates are trusted, and why one of a service is not."""

from __future__ import annotations

import http.client
import ssl
import sys
from contextlib import closing
from typing import Any
from urllib.parse import unquote, urlsplit

import certifi
import truststore
import urllib3.util

from importer.problems import unusable_file
from importer.service.transport import Limits, NoReply

_UNKNOWN_ISSUER = range(18, 22)  # OpenSSL's codes


def trusted(limits: Limits) -> ssl.SSLContext:
    """Trusts IMPORTER_CA_FILE alone, else the system and certifi. Raises UnusableInput if that file cannot be used."""
    if limits.ca_file is None:
        context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if sys.platform == "linux":  # truststore would read the system's file for each connection, one at a time
            context = context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost").context
            context.sslsocket_class = ssl.SSLSocket
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION
        context.load_verify_locations(certifi.where())
        return context
    context = urllib3.util.create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from Python 3.13 on; the CAs of many organizations would not pass
    try:
        context.load_verify_locations(limits.ca_file)
    except OSError as error:
        reason = "it has none" if isinstance(error, ssl.SSLError) else error.strerror
        message = f"the certificates in {limits.ca_file} cannot be read: {reason}"
        hint = "set it to a file with the certificate of your organization's CA, in PEM format"
        raise unusable_file("ca-file-unusable", message, hint, "IMPORTER_CA_FILE") from None
    return context


def explained(refused: NoReply, url: str, limits: Limits) -> NoReply:
    """The same with what is wrong with the certificate and who issued it, found by connecting again."""
    try:
        _connected(url, limits, trusted(limits)).close()
    except ssl.SSLCertVerificationError as error:
        message = f"its certificate is not valid: {error.verify_message.rstrip('.')}"
        hint = "ask the administrator of the service to renew it, or check IMPORTER_BASE_URL"
        if error.verify_code in _UNKNOWN_ISSUER or sys.platform != "linux":
            hint = "if that is the CA of your organization, set IMPORTER_CA_FILE to a file with its certificate"
    except (OSError, http.client.HTTPException):
        return refused
    else:
        return refused
    try:
        names = dict(pair for group in _read_trusting(url, limits)["issuer"] for pair in group)
    except (OSError, http.client.HTTPException):
        return refused._replace(reason=message, hint=hint)
    issuer = names.get("commonName") or names.get("organizationName")
    return NoReply(f"{message} (issued by {issuer!r})", may_have_arrived=False, hint=hint)


def _read_trusting(url: str, limits: Limits) -> Any:
    """The certificate of a service that is not trusted. Nothing is sent; `ssl` describes only one that it trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with closing(_connected(url, limits, context)) as connection:
        itself = connection.sock.getpeercert(binary_form=True)
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=itself)
    with closing(_connected(url, limits, context)) as connection:
        return connection.sock.getpeercert()


def _connected(url: str, limits: Limits, context: ssl.SSLContext) -> http.client.HTTPSConnection:
    host, first = urlsplit(url), urlsplit(limits.proxy or url)
    place = first.hostname or "", first.port or 443
    connection = http.client.HTTPSConnection(*place, timeout=limits.connect, context=context)
    if limits.proxy:
        user = f"{unquote(first.username or '')}:{unquote(first.password or '')}"
        headers = urllib3.util.make_headers(proxy_basic_auth=user) if first.username else {}
        connection.set_tunnel(host.hostname or "", host.port or 443, headers)
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    return connection
