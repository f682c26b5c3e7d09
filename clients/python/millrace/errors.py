"""What goes wrong: refusals of the server, broken connections, and arguments that no server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

if TYPE_CHECKING:
    from .views import ManyResult

MESSAGE_LENGTH = 600


class Error(Exception):
    """What the server refuses, by its stable code: see the table of errors in docs/protocol.md. An argument that no server takes has the
    code `OPTION_TYPE` or `OPTION_RANGE`, and is never sent. `done` is what a bulk call had changed before the error; None otherwise."""

    def __init__(self, code: str, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__("%s: %s" % (code, message))
        self.code = code
        self.message = message
        self.details: Dict[str, Any] = dict(details or {})
        self.done: Optional[ManyResult] = None


class ConnectionLost(Error):
    """The call may have happened: repeat it with the same idempotency key. `retry_after` is in seconds; None: it is of no use to come
    back."""

    def __init__(self, message: str, code: str = "CONNECTION_LOST", retry_after: Optional[float] = 0.0) -> None:
        super().__init__(code, message)
        self.retry_after = retry_after


class ProtocolError(Error):
    """The other end sent what is no message."""

    def __init__(self, message: str, code: str = "BAD_FRAME") -> None:
        super().__init__(code, message)


def type_error(option: str, message: str) -> Error:
    return Error("OPTION_TYPE", "%s must be %s" % (option, _cut(message)), {"option": option})


def range_error(option: str, limit: float, message: str) -> Error:
    return Error("OPTION_RANGE", "%s must be %s" % (option, _cut(message)), {"option": option, "limit": limit})


def _cut(message: str) -> str:
    """Whatever was given, the message stays short enough to be read."""
    return message if len(message) <= MESSAGE_LENGTH else "%s... (%d characters)" % (message[:MESSAGE_LENGTH], len(message))
