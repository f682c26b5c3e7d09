"""Which jobs are meant: the filters of lists and of bulk calls, in the order in which the protocol has them."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .codec import units
from .data import json_text
from .errors import Error, range_error, type_error
from .keys import JobId
from .messages import trimmed
from .options import Time, choice, job_key, key, mapping, name as valid_name, time_ms, truth

STATES = ("scheduled", "waiting", "active", "blocked", "completed", "failed", "cancelled")
CONTAINED_LENGTH = 1024
FINGERPRINT = re.compile(r"[0-9a-f]{14}\Z")


class OtherFilters(TypedDict, total=False):
    """The filters that `jobs` takes by name alone. Times are seconds since 1970, or a datetime."""

    key: Optional[str]
    schedule: Optional[str]
    retrying: Optional[bool]
    enqueued_after: Optional[Time]
    enqueued_before: Optional[Time]
    finished_after: Optional[Time]
    finished_before: Optional[Time]
    worker: Optional[str]
    error: Optional[str]
    fingerprint: Optional[str]
    data: Any
    meta: Any


class JobFilter(OtherFilters, total=False):
    """The jobs of a bulk call: those that match all that is given, or every job with `all` alone. `state` is one of STATES, or a list of
    some. `search` occurs in the name, the tags, the keys or the data. `ids` are the only jobs that may match; not with `search`, `data`,
    `worker`, `error` and `fingerprint`. docs/search.md describes the others."""

    state: Union[None, str, Sequence[str]]
    queue: Optional[str]
    name: Optional[str]
    tag: Optional[str]
    search: Optional[str]
    ids: Optional[Iterable[JobId]]
    all: bool


def _fingerprint(option: str, value: Any) -> Optional[int]:
    if value is None:
        return None
    found = int(value, 16) if isinstance(value, str) and FINGERPRINT.match(value) else 2**53
    if found >= 2**53:
        raise type_error(option, "14 hexadecimal digits, as failures() returns it, got %r" % (value,))
    return found


def _contained(option: str, value: Any) -> Optional[str]:
    """JSON to look for. A number that JavaScript does not have would match nothing, and {} and [] would mean every job with data."""
    if value is None:
        return None
    text = json_text(value, option, "JSON")
    if text in ("{}", "[]"):
        raise type_error(option, "JSON with a property or an item, got %s, which every object or array contains" % text)
    if units(text) > CONTAINED_LENGTH:
        limit = "at most %d characters of JSON, got %d: look for a part of it" % (CONTAINED_LENGTH, units(text))
        raise range_error(option, CONTAINED_LENGTH, limit)
    json.loads(text, parse_int=lambda digits: _finite(option, digits))
    return text


def _finite(option: str, digits: str) -> float:
    if math.isinf(float(digits)):
        raise type_error(option, "JSON with numbers of at most 1.8e308, got one of %d digits" % len(digits))
    return float(digits)


Check = Callable[[str, Any], Any]
# The places behind the first, which is one state; several of them have a place of their own.
FIELDS: Sequence[Tuple[str, Check]] = (
    ("queue", valid_name), ("name", valid_name), ("tag", key), ("key", key), ("schedule", valid_name), ("retrying", truth),
    ("enqueued_after", time_ms), ("enqueued_before", time_ms), ("finished_after", time_ms), ("finished_before", time_ms),
    ("worker", key), ("error", key), ("fingerprint", _fingerprint), ("states", lambda _option, value: value), ("data", _contained),
    ("meta", _contained),
)
OTHERS = dict.fromkeys(OtherFilters.__annotations__)
OPTIONS = ("state", *(option for option, _ in FIELDS if option != "states"))


def filter_fields(wanted: Mapping[str, Any]) -> List[Any]:
    """The fields of a Filter. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    states = _states(wanted.get("state"))
    fields: List[Any] = [states[0] if states is not None and len(states) == 1 else None]
    for option, check in FIELDS:
        fields.append(check(option, wanted.get(option) if option != "states" else _some(states)))
    return trimmed(fields)


def _states(state: Any) -> Optional[List[int]]:
    """The places of the states, each once and in order."""
    if state is None:
        return None
    if isinstance(state, str):
        return [choice("state", state, STATES)]
    if isinstance(state, (bytes, Mapping)) or not hasattr(state, "__iter__"):
        raise type_error("state", "one of %s, or a list of some, got %r" % (", ".join(STATES), state))
    places = sorted({choice("state", each, STATES) for each in state})
    if not places:
        raise type_error("state", "at least one state, got an empty list: leave it out for jobs in any state")
    return places


def _some(states: Optional[List[int]]) -> Optional[List[int]]:
    """One state has a field of its own, and all states are no condition."""
    return states if states is not None and 1 < len(states) < len(STATES) else None


def many_filter(wanted: Any) -> Tuple[Mapping[str, Any], List[Any]]:
    """What a bulk call is for, and the fields of its Filter. Raises Error (OPTION_TYPE, OPTION_RANGE): an empty filter is refused, so that
    nothing meant for some jobs reaches all."""
    said = mapping("filter", wanted, [*OPTIONS, "search", "ids", "all"])
    each_of = [option for option in said if option != "all" and said[option] is not None]
    if said.get("all", True) is not True:
        raise type_error("all", "True, or left out, got %r" % (said["all"],))
    if "all" not in said and not each_of:
        raise type_error("filter", "given with a condition, such as state or queue, or {'all': True} for every job, got %r" % (wanted,))
    if "all" in said and each_of:
        raise type_error("all", "left out, or alone: it means every job, and %s only some" % ", ".join(each_of))
    fields = filter_fields(said)
    if said.get("ids") is not None:
        for option in ("search", "data", "worker", "error", "fingerprint"):
            if said.get(option) is not None:
                raise type_error("ids", "left out with %s: give one or the other" % option)
    return said, fields


def id_list(jobs: Any) -> List[List[Any]]:
    """Each once, in their order."""
    if isinstance(jobs, (str, bytes, Mapping)) or not hasattr(jobs, "__iter__"):
        raise type_error("ids", "a list of ids or keys of jobs, got %r" % (jobs,))
    return [list(each) for each in dict.fromkeys(tuple(job_key(job)) for job in jobs)]
