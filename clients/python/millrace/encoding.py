"""Options as the protocol has them: seconds become milliseconds, words their places, and data JSON. The server checks all bounds; what is
refused here has no form in a message, or names no option."""

from __future__ import annotations

import difflib
import math
import re
from datetime import datetime
from typing import Any, Callable, Collection, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._schema import DEBOUNCE, DURATION_MS, EVENT_TYPES, NAMES, NEW_JOB, ON_CONFLICT, UNTILS, Fields
from .codec import SAFE
from .data import encode_data, json_text
from .errors import range_error, type_error
from .keys import JobKey, JobOfKey

FOREVER = "forever"
FINGERPRINT = re.compile(r"[0-9a-f]{14}\Z")
JITTERS = {"equal": -1, "full": -2}
KEPT: Fields = {"age": (0, "keep"), "count": (1, "scalar")}
CAMEL = {name: camel for camel, name in NAMES.items()}
UNSET: Any = object()
# Kinds for which None is a value, or a mistake; for all others it stands for none.
WITH_NONE = ("changed", "job", "held", "new_job", "new_jobs", "payload")
PAYLOADS = ("full", "none")
Seconds = Union[int, float]
Time = Union[int, float, datetime]


class NewJob(List[Any]):
    """A job as it is asked for: what `new_job` returns."""


def trimmed(fields: Iterable[Any]) -> List[Any]:
    """Fields without the nils at their end."""
    fields = list(fields)
    while fields and fields[-1] is None:
        fields.pop()
    return fields


def job(name: Any, data: Any, options: Mapping[str, Any]) -> NewJob:
    return NewJob(trimmed([scalar("name", name), encode_data(data), *encoded(NEW_JOB, options)[2:]]))


def job_from(call: str, name: str, data: Any, options: Mapping[str, Any]) -> NewJob:
    """`new_job` of a call, whose name is in the errors. Raises TypeError, Error."""
    known_options(call, options, NEW_JOB_OPTIONS)
    return job(name, data, options)


def encoded(fields: Fields, options: Mapping[str, Any], within: str = "") -> List[Any]:
    """All fields of a record, in the order of the protocol; `within` precedes the names of options in errors."""
    values: List[Any] = [None] * len(fields)
    for name, value in options.items():
        place, kind = fields[name]
        if value is not UNSET and (value is not None or kind in WITH_NONE or isinstance(kind, list)):
            is_plain = kind == "scalar" and (type(value) is str or type(value) is int and -SAFE <= value <= SAFE)
            values[place] = value if is_plain else _encoded(within + name, kind, value)
    return values


def _encoded(option: str, kind: Any, value: Any) -> Any:
    if isinstance(kind, tuple):
        return choice(option, value, kind)
    if isinstance(kind, dict):
        said = mapping(option, value, kind)
        return trimmed(encoded(kind, {"mode": "trailing", **said} if kind is DEBOUNCE else said, option + "."))
    if isinstance(kind, list):
        return choice(option, value, kind) or None
    return ENCODERS[kind](option, value)


def changed(fields: Fields, changes: Mapping[str, Any]) -> List[Any]:
    """The fields of changes, of which there is one at least. Raises Error (OPTION_TYPE)."""
    values = trimmed(encoded(fields, changes))
    if not values:
        raise type_error("changes", "given: %s" % ", ".join(fields))
    return values


def mapped(option: str, kind: Any, value: Any) -> Any:
    """A setting as a map has it: by the names of the protocol, and words stay words. A star stands for any name."""
    if isinstance(kind, tuple):
        return kind[choice(option, value, kind)]
    if not isinstance(kind, dict):
        return value if kind == "jitter" and isinstance(value, str) else ENCODERS[kind](option, value)
    within, any_name = "" if option == "defaults" else option + ".", kind.get("*")
    said = mapping(option, value, kind if any_name is None else value)
    kinds = {name: (any_name or kind[name])[1] for name in said if said[name] is not None}
    return {name if any_name else CAMEL.get(name, name): mapped(within + name, of, said[name]) for name, of in kinds.items()}


def scalar(option: str, value: Any) -> Any:
    """A string, a number or a boolean, as it is. Raises Error (OPTION_TYPE)."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, (int, float)) or not (abs(value) <= SAFE or abs(value) == math.inf):
        raise type_error(option, "a string, or a number of at most 53 bits, got %r" % (value,))
    return value


def number(option: str, value: Any, least: float = -math.inf) -> Any:
    """A number that this process itself counts with, or converts."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise type_error(option, "a number, got %r" % (value,))
    if value < least:
        raise range_error(option, least, "%s or more, got %r" % (least, value))
    return value


def milliseconds(option: str, seconds: Any) -> Any:
    """Whole milliseconds; what is longer than a hundred years is as long as that."""
    if number(option, seconds) is None:
        return None
    return DURATION_MS if seconds * 1000 > DURATION_MS else math.ceil(max(seconds, -SAFE / 1000) * 1000 - 1e-6)


def time_ms(option: str, seconds: Any) -> Any:
    """Milliseconds since 1970, of seconds since then or of a datetime."""
    if isinstance(seconds, datetime):
        try:
            seconds = seconds.timestamp()
        except (OverflowError, ValueError, OSError) as error:
            raise type_error(option, "a time since 1970, got %r: %s" % (seconds, error)) from None
    if number(option, seconds) is None:
        return None
    return math.ceil(round(seconds * 1000, 3)) if abs(seconds) <= SAFE / 1000 else math.copysign(SAFE, seconds)


def choice(option: str, value: Any, choices: Sequence[str]) -> int:
    """Its place among them."""
    if value not in choices:
        raise type_error(option, "one of %s, got %r" % (", ".join(choices), value))
    return list(choices).index(value)


def flag(option: str, value: Any) -> Optional[bool]:
    """True, or None for what is not asked for."""
    if value is not None and not isinstance(value, bool):
        raise type_error(option, "True or False, got %r" % (value,))
    return True if value else None


def listed(option: str, values: Any, what: str = "a list of strings") -> List[Any]:
    if isinstance(values, (str, bytes, Mapping, NewJob)) or not hasattr(values, "__iter__"):
        raise type_error(option, "%s, got %r" % (what, values))
    return list(values)


def texts(option: str, values: Any) -> Optional[List[Any]]:
    return None if values is None else [scalar(option, each) for each in listed(option, values)]


def job_list(jobs: Any, option: str = "jobs") -> List[NewJob]:
    """The jobs, of which each is what `new_job` has returned. Raises Error (OPTION_TYPE)."""
    found = listed(option, jobs, "a list of new_job(...)")
    for each in found:
        if not isinstance(each, NewJob):
            raise type_error(option, "a list of new_job(...), got %r in it" % (each,))
    return found


def job_key(job: Any) -> List[Any]:
    """A JobKey, or an id as people see it, as requests take it."""
    try:
        parts: Any = JobKey.parse(job) if isinstance(job, str) else job
    except ValueError:
        parts = None
    if not isinstance(parts, (tuple, list)) or len(parts) != 3:
        hint = ", which this call does not take" if isinstance(job, JobOfKey) else ""
        raise type_error("job", "a JobKey or an id, got %r%s" % (job, hint))
    return [scalar("job", part) for part in parts]


def held_key(of: Any) -> List[Any]:
    """A JobOfKey as requests take it."""
    if not isinstance(of, JobOfKey) or (of.unique_key is None) == (of.idempotency_key is None):
        raise type_error("job", "a JobOfKey with unique_key or with idempotency_key, got %r" % (of,))
    kind, held = (0, of.unique_key) if of.idempotency_key is None else (1, of.idempotency_key)
    return [kind, scalar("job.name", of.name), scalar("job.key", held)]


def mapping(option: str, value: Any, known: Collection[str]) -> Mapping[str, Any]:
    """A dict with no other keys than those that are known."""
    if not isinstance(value, Mapping):
        raise type_error(option, "a dict, got %r" % (value,))
    for each in value:
        if each not in known:
            raise type_error(option, "a dict of %s, got the key %r%s" % (", ".join(known), each, nearest(each, known)))
    return value


def known_options(call: str, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises TypeError, as Python does, by the name of what was called, with the nearest name that there is."""
    for each in options:
        if each not in known:
            hint = nearest(each, known) or "; it takes %s" % ", ".join(known)
            raise TypeError("%s got an unexpected keyword argument %r%s" % (call, each, hint))


def nearest(word: Any, known: Collection[str]) -> str:
    near = difflib.get_close_matches(str(word), list(known), 1)
    return "; did you mean %r?" % near[0] if near else ""


def _unique(option: str, unique: Any) -> List[Any]:
    parts = (unique,) if isinstance(unique, str) else unique
    if not isinstance(parts, (tuple, list)) or not 1 <= len(parts) <= 3:
        raise type_error(option, "a key, or a tuple of a key, %s, and maybe 'start', got %r" % (" | ".join(ON_CONFLICT), unique))
    held, on_conflict, until = [*parts, *("skip", None)[len(parts) - 1 :]] if len(parts) < 3 else parts
    place = None if until is None else choice(option, until, UNTILS)
    return trimmed([scalar(option, held), choice(option, on_conflict, ON_CONFLICT), place])


def _fingerprint(option: str, value: Any) -> int:
    if not isinstance(value, str) or not FINGERPRINT.match(value):
        raise type_error(option, "14 hexadecimal digits, as failures() returns it, got %r" % (value,))
    return int(scalar(option, int(value, 16)))


ENCODERS: Dict[str, Callable[[str, Any], Any]] = {
    "scalar": scalar, "given": lambda _option, value: value, "flag": flag,
    "duration": milliseconds, "endless": lambda option, value: value if value == math.inf else milliseconds(option, value),
    "keep": lambda option, value: DURATION_MS if value == FOREVER else milliseconds(option, value), "time": time_ms,
    "kept": lambda option, value: mapped(option, KEPT, value) if isinstance(value, Mapping) else FOREVER if value == FOREVER else
    milliseconds(option, value),
    "data": lambda option, value: encode_data(value, option), "changed": lambda option, value: [encode_data(value, option)],
    "payload": lambda option, value: 0 if choice(option, value, PAYLOADS) else None, "texts": texts, "unique": _unique,
    "json": lambda option, value: json_text(value, option, "JSON"),
    "jitter": lambda option, value: JITTERS[value] if isinstance(value, str) and value in JITTERS else number(option, value, 0),
    "event_types": lambda option, value: [choice(option, each, EVENT_TYPES) for each in listed(option, value)],
    "fingerprint": _fingerprint, "job": lambda _option, value: job_key(value), "any_job": lambda _option, value: job_key(value),
    "held": lambda _option, value: held_key(value), "new_job": lambda option, value: job_list([value], option)[0],
    "new_jobs": lambda option, value: job_list(value, option),
}
NEW_JOB_OPTIONS = [name for name in NEW_JOB if name not in ("name", "data")]
