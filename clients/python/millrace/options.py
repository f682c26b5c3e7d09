"""Options are held to what the server takes before they are sent: it ends the connection of a client that sends another thing."""

from __future__ import annotations

import difflib
import math
import re
from datetime import datetime
from typing import Any, Collection, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

from .codec import HALF, PAIR, SAFE, units
from .data import sized_json
from .errors import range_error, type_error
from .keys import JobKey, JobOfKey

DURATION_MS = 100 * 365 * 86_400_000
# The last instant that the server knows, in seconds since 1970.
TIME = 8_640_000_000_000
NAME = re.compile(r"(?![.][.]?\Z)[A-Za-z0-9_.:/-]{1,128}\Z")
KEY_LENGTH = 512
NAME_LENGTH = 128
META_LENGTH = 16_384
TAGS_MAX = 32
TEXT_LENGTH = 4096

T = TypeVar("T")
Seconds = Union[int, float]
Time = Union[int, float, datetime]


def given(option: str, value: Optional[T]) -> T:
    if value is None:
        raise type_error(option, "given, got None")
    return value


def number(option: str, value: Any, least: float, most: float) -> Any:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise type_error(option, "a number, got %r" % (value,))
    if not least <= value <= most:
        allowed = "%s or more" % least if most == math.inf else "between %s and %s" % (least, most)
        raise range_error(option, least if value < least else most, "%s, got %r" % (allowed, value))
    return value


def integer(option: str, value: Any, least: int, most: int) -> Any:
    if isinstance(value, float) and not value.is_integer():
        raise type_error(option, "an integer, got %r" % value)
    return number(option, value, least, most)


def milliseconds(option: str, seconds: Any, least: int = 0, infinite: bool = False) -> Any:
    """Whole milliseconds, `least` or more; what is longer than a hundred years is as long as that, where there is no `infinite`."""
    if number(option, seconds, 0, math.inf) is None:
        return None
    if seconds == math.inf and infinite:
        return seconds
    ms = DURATION_MS if seconds * 1000 > DURATION_MS else math.ceil(seconds * 1000 - 1e-6)
    if ms < least:
        raise range_error(option, least / 1000, "%s seconds or more, got %r" % (least / 1000, seconds))
    return ms


def time_ms(option: str, seconds: Any) -> Optional[int]:
    """Milliseconds since 1970, of seconds since then or of a datetime."""
    if isinstance(seconds, datetime):
        try:
            seconds = seconds.timestamp()
        except (OverflowError, ValueError, OSError) as error:
            raise type_error(option, "a time since 1970, got %r: %s" % (seconds, error)) from None
    return None if number(option, seconds, 0, TIME) is None else math.ceil(round(seconds * 1000, 3))


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


def truth(option: str, value: Any) -> Optional[bool]:
    if value is not None and not isinstance(value, bool):
        raise type_error(option, "True, False or None, got %r" % (value,))
    return value if value is None else bool(value)


def name(option: str, value: Any) -> Any:
    if value is not None and not (isinstance(value, str) and NAME.match(value)):
        raise type_error(option, "1 to 128 of the characters A-Z a-z 0-9 _ . : / -, got %r" % (value,))
    return value


def queue_patterns(queues: Optional[Iterable[Any]]) -> Optional[List[str]]:
    """Names of queues; with an asterisk at its end, one is the beginning of names."""
    if queues is None:
        return None
    if isinstance(queues, str):
        raise type_error("queues", "a list of strings, got %r" % queues)
    return [_queue_pattern(queue) for queue in queues] or None


def _queue_pattern(value: Any) -> str:
    if isinstance(value, str) and value.endswith("*"):
        return value if value == "*" else str(name("queues", value[:-1])) + "*"
    return str(name("queues", given("queues", value)))


def key(option: str, value: Any) -> Any:
    if value is None:
        return None
    text(option, value, KEY_LENGTH)
    if HALF.search(PAIR.sub("", value)):
        raise type_error(option, "a string without halves of surrogate pairs, got %r" % (value,))
    return value


def text(option: str, value: Any, most: int, least: int = 1) -> Any:
    if value is None:
        return None
    if not isinstance(value, str):
        raise type_error(option, "a string, got %r" % (value,))
    if not least <= units(value) <= most:
        raise range_error(option, most, "%d to %d characters, got %d" % (least, most, units(value)))
    return value


def tag_list(tags: Any) -> Optional[List[str]]:
    if tags is None:
        return None
    if isinstance(tags, (str, bytes)) or not hasattr(tags, "__iter__"):
        raise type_error("tags", "a list of strings, got %r" % (tags,))
    keys = [key("tags", tag) for tag in tags]
    if len(keys) > TAGS_MAX or None in keys:
        raise range_error("tags", TAGS_MAX, "at most %d strings, got %r" % (TAGS_MAX, keys))
    return keys


def meta_text(meta: Any) -> Optional[str]:
    return sized_json("meta", meta, META_LENGTH, "large content goes into data")


def job_key(job: Any) -> List[Any]:
    """A JobKey, or an id as people see it, as requests take it."""
    try:
        parts: Any = JobKey.parse(job) if isinstance(job, str) else job
    except ValueError:
        parts = None
    if not isinstance(parts, (tuple, list)) or len(parts) != 3:
        hint = ", which this call does not take" if isinstance(job, JobOfKey) else ""
        raise type_error("job", "a JobKey or an id, got %r%s" % (job, hint))
    return [integer("job", given("job", part), 0, most) for part, most in zip(parts, (2**48 - 1, SAFE, 2**48 - 1))]


def held_key(of: Any) -> List[Any]:
    """A JobOfKey as requests take it."""
    if not isinstance(of, JobOfKey):
        raise type_error("job", "a JobOfKey, got %r" % (of,))
    if (of.unique_key is None) == (of.idempotency_key is None):
        raise type_error("job", "a JobOfKey with unique_key or with idempotency_key, got %r" % (of,))
    kind, held = (0, key("job.unique_key", of.unique_key)) if of.idempotency_key is None else (1, key("job.idempotency_key", of.idempotency_key))
    return [kind, name("job.name", given("job.name", of.name)), held]


def mapping(option: str, value: Any, names: Collection[str], required: Collection[str] = ()) -> Mapping[str, Any]:
    """A dict that has all of `required`, and no other keys than those and `names`."""
    if not isinstance(value, Mapping):
        raise type_error(option, "a dict, got %r" % (value,))
    known = [*required, *names]
    for each in value:
        if each not in known:
            raise type_error(option, "a dict of %s, got the key %r%s" % (", ".join(known), each, nearest(each, known)))
    for each in required:
        given("%s.%s" % (option, each), value.get(each))
    return value


def nearest(word: Any, known: Collection[str]) -> str:
    near = difflib.get_close_matches(str(word), list(known), 1)
    return "; did you mean %r?" % near[0] if near else ""
