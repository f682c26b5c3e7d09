"""Reads the kinds of values in answers. `_readers.py` reads whole answers with these."""

from __future__ import annotations

import functools
import json
import math
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, TypeVar, Union

from ._kinds import KINDS
from ._schema import DURATION_MS
from .data import shown
from .encoding import FOREVER
from .keys import JobKey

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NEVER = datetime.max.replace(tzinfo=timezone.utc)
Fields = Mapping[str, Any]
Convert = Callable[[Any], Any]
T = TypeVar("T")
# A retention without a bound, as the engine stores it.
KEPT_FOREVER = {"ageMs": DURATION_MS, "count": 10**12}


def when(ms: Any) -> Optional[datetime]:
    """0 is never. What no datetime can say, which ends with the year 9999, is the last one."""
    return moment(ms) if ms else None


def moment(ms: int) -> datetime:
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return NEVER


def seconds(ms: Any) -> Any:
    """None for no end."""
    return None if ms is None or ms == math.inf else ms / 1000


def keep(ms: Any) -> Union[None, float, str]:
    return FOREVER if ms == DURATION_MS else seconds(ms)


def or_none(read: Callable[[Any], T], said: Any) -> Optional[T]:
    return None if said is None else read(said)


def job_id(said: Fields) -> str:
    return str(JobKey(said["seq"], said["node"], said["enqueuedAt"]))


def event_job(said: Fields) -> Optional[str]:
    """The job that an event is about, or that a schedule has created."""
    return str(JobKey(said["jobSeq"], said["node"], said["enqueuedAt"])) if "jobSeq" in said else or_none(job_id, said.get("job"))


def progress_of(stored: Optional[str]) -> List[Any]:
    """The fraction, the note and the value of the last report, each None if there is none."""
    said = shown(stored)
    fraction, note, value = [*(said if isinstance(said, list) else []), None, None, None][:3]
    return [fraction, note, shown(value)]


def log_fields(text: Optional[str]) -> Dict[str, Any]:
    """Those that were cut to their limit are no longer JSON."""
    try:
        fields = {} if text is None else json.loads(text)
    except ValueError:
        fields = None
    return fields if isinstance(fields, dict) else {"truncated": text}


def backoff(said: Fields) -> Dict[str, Any]:
    return {snake(name): seconds(value) if name in ("delay", "maxDelay") else value for name, value in said.items() if value is not None}


@functools.lru_cache(1_024)
def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), re.sub("Ms(?=[A-Z]|$)", "", name))


def plain(value: Any) -> Any:
    """A dict as it is sent, or several, with the names and the forms of Python."""
    return _converted(value, SHOWN)


def given(said: Fields) -> Dict[str, Any]:
    """Options, in the forms in which calls take them."""
    return {name: value for name, value in _converted(said, GIVEN).items() if value is not None}


def _converted(value: Any, by: Mapping[str, Convert]) -> Any:
    if isinstance(value, list):
        return [_converted(each, by) for each in value]
    if not isinstance(value, dict):
        return value
    if value == KEPT_FOREVER:
        return FOREVER
    return {snake(name): by[KINDS[name]](each) if name in KINDS else _converted(each, by) for name, each in value.items()}


# By the kind of a field in a dict. The names of tiers are those that people have chosen.
SHOWN: Dict[str, Convert] = {
    "time": when, "stamp": when, "duration": seconds, "endless": seconds, "forever": keep, "backoff": backoff, "data": shown, "json": shown,
    "tiers": lambda tiers: {name: plain(tier) for name, tier in tiers.items()},
}
GIVEN: Dict[str, Convert] = {**SHOWN, "endless": lambda ms: ms if ms == math.inf else seconds(ms)}
