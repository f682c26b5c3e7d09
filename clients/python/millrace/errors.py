"""What goes wrong: refusals of the server, broken connections, and arguments that no server takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Type

from ._calls import RENAMED
from ._schema import NAMES

if TYPE_CHECKING:
    from .views import ManyResult

MESSAGE_LENGTH = 600


class Error(Exception):
    """What the server refuses, by its stable code: see the table of errors in docs/protocol.md. A wrong argument has the code `OPTION_TYPE`
    or `OPTION_RANGE`; the `details` are the `option` and the `limit`, in seconds for a duration. `done` is what a bulk call had changed
    before the error; None otherwise."""

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


class StepFailedError(Error):
    """A step of a handler has failed permanently: it had no attempts left, or its error allows none. `step` is its name. `error` is the
    error of its last attempt, as a dict; `__cause__` is an exception with the same class name, message and code."""

    def __init__(self, step: str, error: Mapping[str, Any]) -> None:
        super().__init__("STEP_FAILED", "step %r has failed: %s" % (step, error["message"]), {"step": step, "error": error})
        self.step = step
        self.error: Dict[str, Any] = dict(error)
        cause: Optional[BaseException] = None
        for each in reversed([error, *(error.get("cause") or [])]):
            cause, inner = _raised_as(each), cause
            cause.__cause__ = inner
        self.__cause__ = cause


def _raised_as(error: Mapping[str, Any]) -> BaseException:
    kind: Type[BaseException] = Exception
    try:
        kind = type(str(error["name"]), (Exception,), {"code": error.get("code")})
    except ValueError:
        # Python has no such name.
        pass
    return kind(error["message"])


class StepsChangedError(Error):
    """The handler asks for other durable calls than those that its job has recorded: the error of such a run, which no handler gets.
    `asked` is None if it has returned."""

    def __init__(self, asked: Optional[str], recorded: str) -> None:
        does = "has returned" if asked is None else "asks for %r" % asked
        message = "the handler %s, and its job has recorded %r next: guard the change with changed('...'), or run the earlier code"
        super().__init__("STEPS_CHANGED", message % (does, recorded))


class RunSuspended(BaseException):
    """Ends a handler in a thread whose run a durable call has ended: the job sleeps, or a step has failed. A later run comes back to the
    same place. No Exception: a handler that catches those does not catch it."""

    def __init__(self) -> None:
        super().__init__("the run is over: a later one continues")


def type_error(option: str, message: str) -> Error:
    return Error("OPTION_TYPE", "%s must be %s" % (option, _cut(message)), {"option": option})


def range_error(option: str, limit: float, message: str) -> Error:
    return Error("OPTION_RANGE", "%s must be %s" % (option, _cut(message)), {"option": option, "limit": limit})


def _cut(message: str) -> str:
    """Whatever was given, the message stays short enough to be read."""
    return message if len(message) <= MESSAGE_LENGTH else "%s... (%d characters)" % (message[:MESSAGE_LENGTH], len(message))


# What the names of options begin with in messages of a server.
CONTAINER = re.compile(r"^(?:jobs\[0\](?=\.)|spec|changes|filter|session|enqueues\[0\](?=\.))\.?(?=.)")
CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")
MS = re.compile(r"(-?\d+(?:\.\d+)?) ms\b")


def in_python(op: str, error: Error) -> Error:
    """The refusal of an option by a server, with the names and the units that options have here."""
    option = error.details.get("option")
    if error.code not in ("OPTION_TYPE", "OPTION_RANGE") or not isinstance(option, str):
        return error
    first, *rest = CONTAINER.sub("", option).split(".")
    names = RENAMED.get(op, {})
    mine = ".".join(NAMES.get(part, part) for part in [names.get(first, first), *rest])
    message, limit = error.message, error.details.get("limit")
    if message.startswith(option):
        message = mine + message[len(option) :]
    if isinstance(limit, (int, float)) and "%s ms" % limit in message:
        error.details["limit"] = limit / 1000
    message = MS.sub(lambda ms: "%g s" % (float(ms[1]) / 1000), CAMEL.sub(lambda name: NAMES.get(name[0], name[0]), message))
    return Error(error.code, re.sub(r"\bnil\b", "None", message), {**error.details, "option": mine})
