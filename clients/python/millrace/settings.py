"""The settings of a queue: a map by the names of the protocol, in milliseconds. What no server takes is refused here."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, TypedDict

from .errors import range_error, type_error
from .jobs import BACKOFFS, FOREVER, JITTERS, known_options, new_job
from .operations import Request, called
from .options import DURATION_MS, NAME, choice, given, integer, mapping, milliseconds, name as valid_name

CONCURRENCY_MAX, TOKENS_MAX, LENGTH_MAX, SHARE_MAX, TIERS_MAX = 1_000_000, 1_000_000_000, 1_000_000_000, 1_000, 100
YEAR_MS = 365 * 86_400_000
COUNT_MAX = 10**12
KEPT = ("completed", "failed", "cancelled")
UNSAFE_TIERS = ("__proto__", "constructor", "prototype")


class QueueSettings(TypedDict, total=False):
    """The settings of `configure_queue`. None removes one."""

    concurrency_limit: Optional[int]
    shared_limit: Optional[Mapping[str, Any]]
    per_key_limit: Optional[int]
    key_order: Optional[str]
    rate_limit: Optional[Mapping[str, Any]]
    per_key_rate_limit: Optional[Mapping[str, Any]]
    key_tiers: Optional[Mapping[str, Mapping[str, Any]]]
    max_length: Optional[int]
    on_full: Optional[str]
    share: Optional[int]
    fairness: Optional[str]
    dead_letter: Optional[str]
    repeats: Optional[str]
    retention: Optional[Mapping[str, Any]]
    defaults: Optional[Mapping[str, Any]]


@called
def configure_queue(queue: Any, settings: Mapping[str, Any]) -> Request[None]:
    wanted = valid_name("queue", given("queue", queue))
    known_options("configure_queue()", settings, SETTINGS)
    changes = {camel(name): None if value is None else SETTINGS[name](name, value) for name, value in settings.items()}
    tiers = (changes.get("keyTiers") or {}).values()
    largest = max([changes.get("perKeyLimit") or 1, *(tier.get("perKeyLimit", 1) for tier in tiers)])
    if changes.get("keyOrder") == "strict" and largest > 1:
        raise range_error("per_key_limit", 1, "1 or left out if key_order is 'strict', got %r" % (largest,))
    if changes.get("onFull") == "drop-oldest" and "maxLength" in changes and changes["maxLength"] is None:
        raise type_error("on_full", "left out, or 'reject', where max_length is removed: 'drop-oldest' needs one")
    return Request("configure", wanted, changes, read=lambda _: None)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _count(most: int) -> Callable[[str, Any], Any]:
    return lambda option, value: integer(option, value, 1, most)


def _word(*words: str) -> Callable[[str, Any], str]:
    return lambda option, value: words[choice(option, value, words)]


def _present(fields: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _shared(option: str, value: Any) -> Dict[str, Any]:
    said = mapping(option, value, (), ("name", "limit"))
    return {"name": valid_name(option + ".name", said["name"]), "limit": integer(option + ".limit", said["limit"], 1, CONCURRENCY_MAX)}


def _rate(option: str, value: Any) -> Dict[str, Any]:
    said = mapping(option, value, ("period", "burst"), ("limit",))
    period = milliseconds(option + ".period", said.get("period"), 1)
    if period is not None and period > YEAR_MS:
        raise range_error(option + ".period", YEAR_MS / 1000, "at most 365 days, got %r seconds" % (said["period"],))
    limit = integer(option + ".limit", said["limit"], 1, TOKENS_MAX)
    return _present({"limit": limit, "period": period, "burst": integer(option + ".burst", said.get("burst"), 1, TOKENS_MAX)})


def _tiers(option: str, value: Any) -> Dict[str, Any]:
    if not isinstance(value, Mapping):
        raise type_error(option, "a dict of tiers by their names, got %r" % (value,))
    if len(value) > TIERS_MAX:
        raise range_error(option, TIERS_MAX, "at most %d tiers, got %d: put more keys into each" % (TIERS_MAX, len(value)))
    return {_tier_name(option, name): _tier("%s.%s" % (option, name), tier) for name, tier in value.items()}


def _tier_name(option: str, name: Any) -> str:
    """A tier ends at the first colon of a key."""
    if not (isinstance(name, str) and NAME.match(name)) or ":" in name or name in UNSAFE_TIERS:
        told = "a dict by names of 1 to 128 of the characters A-Z a-z 0-9 _ . / -, but for %s, got %r" % (", ".join(UNSAFE_TIERS), name)
        raise type_error(option, told)
    return name


def _tier(option: str, value: Any) -> Dict[str, Any]:
    said = mapping(option, value, ("per_key_limit", "per_key_rate_limit"))
    limit, rate = said.get("per_key_limit"), said.get("per_key_rate_limit")
    if limit is None and rate is None:
        raise type_error(option, "a dict of per_key_limit, per_key_rate_limit or both, got %r" % (value,))
    most = integer(option + ".per_key_limit", limit, 1, CONCURRENCY_MAX)
    return _present({"perKeyLimit": most, "perKeyRateLimit": None if rate is None else _rate(option + ".per_key_rate_limit", rate)})


def _retention(option: str, value: Any) -> Dict[str, Any]:
    said = mapping(option, value, KEPT)
    return {state: _keep("%s.%s" % (option, state), keep) for state, keep in said.items() if keep is not None}


def _keep(option: str, value: Any) -> Any:
    if value == FOREVER:
        return FOREVER
    if not isinstance(value, Mapping):
        return milliseconds(option, value)
    said = mapping(option, value, ("age", "count"))
    age, count = said.get("age"), said.get("count")
    if age is None and count is None:
        raise type_error(option, "a dict of age, count or both, got %r" % (value,))
    most = COUNT_MAX if count == FOREVER else integer(option + ".count", count, 0, COUNT_MAX)
    return _present({"age": DURATION_MS if age == FOREVER else milliseconds(option + ".age", age), "count": most})


# The defaults of a queue, by the place in a NewJob.
DEFAULTS = {
    3: "priority", 14: "weight", 21: "tokens", 8: "max_attempts", 22: "max_lost", 20: "max_age", 11: "backoff", 9: "timeout",
    10: "heartbeat_timeout", 12: "ttl", 23: "keep", 24: "log_lines",
}


def _defaults(option: str, value: Any) -> Dict[str, Any]:
    said = mapping(option, value, tuple(DEFAULTS.values()))
    job = [*new_job("defaults", **said), *[None] * 25]
    fields = {camel(name): _backoff(job[place]) if name == "backoff" else job[place] for place, name in DEFAULTS.items()}
    return _present(fields)


def _backoff(fields: Optional[Sequence[Any]]) -> Optional[Dict[str, Any]]:
    """The fields of a Backoff by their names."""
    if fields is None:
        return None
    kind, delay, factor, most, jitter = [*fields, None, None, None][:5]
    spread = next((word for word, number in JITTERS.items() if number == jitter), jitter)
    return _present({"type": BACKOFFS[kind], "delay": delay, "factor": factor, "maxDelay": most, "jitter": spread})


SETTINGS: Mapping[str, Callable[[str, Any], Any]] = {
    "concurrency_limit": _count(CONCURRENCY_MAX),
    "shared_limit": _shared,
    "per_key_limit": _count(CONCURRENCY_MAX),
    "key_order": _word("strict", "turns"),
    "rate_limit": _rate,
    "per_key_rate_limit": _rate,
    "key_tiers": _tiers,
    "max_length": _count(LENGTH_MAX),
    "on_full": _word("reject", "drop-oldest"),
    "share": _count(SHARE_MAX),
    "fairness": _word("name", "none"),
    "dead_letter": lambda option, value: valid_name(option, value),
    "repeats": _word("silent", "event"),
    "retention": _retention,
    "defaults": _defaults,
}
