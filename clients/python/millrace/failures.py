"""What handlers raise, and how the engine is told of it."""

from __future__ import annotations

import errno
import traceback
from typing import Any, Dict, List, Optional, Tuple, Union

from ._schema import CAUSE_LENGTH, CAUSES_MAX, CODE_LENGTH, PAUSE_PARTS, STACK_LENGTH, TEXT_LENGTH
from .encoding import Seconds, choice, milliseconds, number, trimmed
from .errors import Error, StepFailedError, type_error

# Options of durable calls: what is wrong with them is so in each run.
DURABLE = ("step", "sleep", "waits", "message", "timeout")


class Retry(Exception):
    """Raised by a handler: try again after so many seconds."""

    def __init__(self, after: Seconds, message: str = "") -> None:
        super().__init__(message or "retry after %s s" % after)
        self.after_ms: int = milliseconds("after", number("after", after, 0))


class Fail(Exception):
    """Raised by a handler: the job fails permanently, whatever attempts are left."""


class Cancel(Exception):
    """Raised by a handler: the job is cancelled, and the message is the reason."""


class Snooze(Exception):
    """Raised by a handler: not now, but after so many seconds. No attempt is used. `pause` pauses a part of the job's queue for the
    same time: the whole 'queue', the jobs of its 'name', or those of its concurrency 'key'; by default only this job is put off."""

    def __init__(self, delay: Seconds, pause: Optional[str] = None) -> None:
        super().__init__("snooze for %s s" % delay)
        if number("delay", delay, 0) is None:
            raise type_error("delay", "given, got None")
        self.delay_ms: int = milliseconds("delay", delay)
        self.pause: Optional[int] = None if pause is None else choice("pause", pause, PAUSE_PARTS)


def failure(error: BaseException) -> Tuple[List[Any], Union[None, bool, int]]:
    """What a run has failed with, and when it is tried again. Never raises, whatever was raised."""
    try:
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        code, causes = _facts(error)
        room = STACK_LENGTH - sum(len(text or "") for text in (code, *(text for cause in causes for text in cause)))
        told = trimmed([type(error).__name__, str(error)[:TEXT_LENGTH], stack[:room], code, causes or None])
    except Exception:
        told = [type(error).__name__, "the handler has raised what cannot be read"]
    return told, getattr(error, "after_ms", None) if isinstance(error, Retry) else False if is_hopeless(error) else None


def is_hopeless(error: BaseException) -> bool:
    """Returns True if another attempt would end the same way."""
    if isinstance(error, Error):
        is_wrong = error.code in ("OPTION_TYPE", "OPTION_RANGE") and error.details.get("option") in DURABLE
        return is_wrong or isinstance(error, StepFailedError)
    return isinstance(error, Fail)


def as_read(told: List[Any]) -> Dict[str, Any]:
    """The failure of `failure` as answers have it."""
    name, message, stack, code, causes = [*told, None, None, None][:5]
    read = {"name": name, "message": message, "stack": stack, "code": code}
    causes = [dict(zip(("name", "message", "code"), cause)) for cause in causes or []]
    return {**{key: value for key, value in read.items() if value is not None}, **({"cause": causes} if causes else {})}


def _facts(error: BaseException) -> Tuple[Optional[str], List[List[str]]]:
    """Its code and its causes. Where they cannot be read, the error itself still can."""
    try:
        return _code(error), _causes(error)
    except Exception:
        return None, []


def _code(error: BaseException) -> Optional[str]:
    """The `code` of an error, as a string; of an OSError without one the name of its `errno`, such as ECONNREFUSED."""
    code: Any = getattr(error, "code", None)
    if code is None and isinstance(error, OSError):
        code = errno.errorcode.get(error.errno, error.errno) if error.errno is not None else None
    if isinstance(code, bool) or not isinstance(code, (str, int, float)) or code == "":
        return None
    return str(code)[:CODE_LENGTH]


def _causes(error: BaseException) -> List[List[str]]:
    """What it was raised from (`raise ... from ...`), the nearest first: `[name, message, code]`, or without a code."""
    causes: List[List[str]] = []
    cause = error.__cause__
    while cause is not None and len(causes) < CAUSES_MAX:
        code = _code(cause)
        causes.append([type(cause).__name__[:CODE_LENGTH], str(cause)[:CAUSE_LENGTH]] + ([] if code is None else [code]))
        cause = cause.__cause__
    return causes
