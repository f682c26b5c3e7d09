"""Where an engine is, and which token it wants: found as the command line finds them."""

from __future__ import annotations

import os
import re
import socket
from typing import Optional, Tuple, Union

from .errors import type_error

SOCKET_END, TOKEN_END, TOKEN_LENGTH = "-socket", "-token", 1_024
DEFAULT_FILE = "millrace.db"
TCP = re.compile(r"tcp://(?:\[([^\]]+)\]|([^:/]+)):(\d+)/?\Z")

Address = Union[str, Tuple[str, int]]


def url_of(url: Optional[str]) -> str:
    """The url as it was given; else MILLRACE_URL; else the own socket of the daemon of MILLRACE_FILE, or of millrace.db in this folder.
    Raises Error (OPTION_TYPE)."""
    url = url if url is not None else os.environ.get("MILLRACE_URL") or _socket_of_file()
    address_of(url)
    return url


def _socket_of_file() -> str:
    if os.environ.get("MILLRACE_POSTGRES"):
        raise type_error("url", "given, or be in MILLRACE_URL: MILLRACE_POSTGRES names a database, and this client takes the socket of an engine")
    file = os.environ.get("MILLRACE_FILE") or DEFAULT_FILE
    if file == ":memory:":
        raise type_error("url", "given, or be in MILLRACE_URL: no other process sees a database in memory (MILLRACE_FILE)")
    return "unix:%s%s" % (os.path.abspath(file), SOCKET_END)


def address_of(url: str) -> Address:
    """The path of a socket, or a host and a port. Raises Error (OPTION_TYPE)."""
    if not isinstance(url, str):
        raise type_error("url", "a string, got %r" % (url,))
    if url.startswith("unix:") and len(url) > len("unix:"):
        return url[len("unix:") :]
    match = TCP.match(url)
    if match is None:
        raise type_error("url", "unix:/path or tcp://host:port, got %r%s" % (url, _hint(url)))
    return match.group(1) or match.group(2), int(match.group(3))


def _hint(url: str) -> str:
    if url.startswith("tls:"):
        return ": this client has no TLS, so connect through a tunnel"
    if url.startswith(("http:", "https:")):
        return ", which is the HTTP API of an engine: its socket is as unix:/path/millrace.db-socket (millrace serve logs it)"
    return ""


def token_of(url: str, token: Optional[str]) -> Optional[str]:
    """The token as it was given; else MILLRACE_TOKEN; else, over a daemon's own socket, the one that its first run has put beside its file.
    Raises Error (OPTION_TYPE) if that socket belongs to another user than this one and root: whoever listens there would get the token."""
    token = token or os.environ.get("MILLRACE_TOKEN")
    if token or not (url.startswith("unix:") and url.endswith(SOCKET_END)):
        return token
    path = url[len("unix:") :]
    try:
        with open(path[: -len(SOCKET_END)] + TOKEN_END, encoding="ascii") as file:
            found = file.read(TOKEN_LENGTH).strip() or None
        owner = os.lstat(path).st_uid
    except (OSError, ValueError):
        # There is none, or it is another user's: the server says what it wants.
        return None
    if found is not None and owner not in (0, os.getuid()):
        raise type_error("token", "given, or be in MILLRACE_TOKEN: %s belongs to another user (%d), who would get the one beside it" % (path, owner))
    return found


def dial(url: str, timeout: float) -> socket.socket:
    """Raises OSError."""
    address = address_of(url)
    if isinstance(address, tuple):
        sock = socket.create_connection(address, timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock
