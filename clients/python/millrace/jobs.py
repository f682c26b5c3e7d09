"""Jobs as they are asked for."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .data import encode_data
from .errors import range_error, type_error
from .messages import trimmed
from .options import (
    DURATION_MS, Seconds, Time, choice, given, integer, key, mapping, meta_text, milliseconds, name as valid_name, nearest, number,
    tag_list, time_ms,
)

JOBS_MAX = 10_000
ON_CONFLICT = ("skip", "replace", "reschedule", "error")
UNTILS = ("end", "start")
DEBOUNCE_MODES = ("trailing", "leading")
BACKOFFS = ("exponential", "linear", "fixed")
JITTERS = {"equal": -1, "full": -2}
FOREVER = "forever"
# Fields that may make a job stand for an earlier one, by their place.
KEYS = {6: "idempotency_key", 7: "unique", 18: "debounce", 19: "throttle"}

Unique = Union[str, Tuple[str, str], Tuple[str, str, str]]


class JobOptions(TypedDict, total=False):
    """The options of `new_job` and `enqueue`."""

    queue: Optional[str]
    priority: Optional[int]
    delay: Optional[Seconds]
    run_at: Optional[Time]
    idempotency_key: Optional[str]
    unique: Optional[Unique]
    max_attempts: Optional[int]
    timeout: Optional[Seconds]
    heartbeat_timeout: Optional[Seconds]
    backoff: Optional[Mapping[str, Any]]
    ttl: Optional[Seconds]
    idempotency_ttl: Optional[Seconds]
    weight: Optional[int]
    concurrency_key: Optional[str]
    tags: Optional[Iterable[str]]
    meta: Any
    debounce: Optional[Mapping[str, Any]]
    throttle: Optional[Mapping[str, Any]]
    max_age: Optional[Seconds]
    tokens: Optional[int]
    max_lost: Optional[int]
    keep: Union[None, Seconds, str]
    log_lines: Optional[int]


class NewJob(List[Any]):
    """A job as it is asked for: what `new_job` returns."""


def new_job(
    name: str,
    data: Any = None,
    *,
    queue: Optional[str] = None,
    priority: Optional[int] = None,
    delay: Optional[Seconds] = None,
    run_at: Optional[Time] = None,
    idempotency_key: Optional[str] = None,
    unique: Optional[Unique] = None,
    max_attempts: Optional[int] = None,
    timeout: Optional[Seconds] = None,
    heartbeat_timeout: Optional[Seconds] = None,
    backoff: Optional[Mapping[str, Any]] = None,
    ttl: Optional[Seconds] = None,
    idempotency_ttl: Optional[Seconds] = None,
    weight: Optional[int] = None,
    concurrency_key: Optional[str] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Any = None,
    debounce: Optional[Mapping[str, Any]] = None,
    throttle: Optional[Mapping[str, Any]] = None,
    max_age: Optional[Seconds] = None,
    tokens: Optional[int] = None,
    max_lost: Optional[int] = None,
    keep: Union[None, Seconds, str] = None,
    log_lines: Optional[int] = None
) -> NewJob:
    """A job as it is asked for. Durations are in seconds, and None stands for the default: that of a worker for the name, of the queue, or
    of the engine, in this order.

    When: `delay` (0 or more) or `run_at` (seconds since 1970, or a datetime); `priority`, -1,000,000 to 1,000,000, default 0: higher ones
    start first; `ttl`: fails if it has not started this long after its enqueue, default none. Where: `queue`, default 'default'.
    `concurrency_key`: what the limits of keys go by. `weight`: share of its worker's concurrency, 1 to 1,000,000, default 1. `tokens`: what
    each start takes from the rate limits of its queue and its key, 1 to 1,000,000,000, default 1.

    How often: `max_attempts`, 1 to 100,000, default 4, the first included; `max_lost`: runs that may lose their worker without using an
    attempt, 0 to 100,000, default: each uses one; `max_age`: no retry begins later than this long after the enqueue, default none;
    `backoff`: a dict of type ('exponential', 'linear' or 'fixed'), delay, factor (of 'exponential', 1 to 1,000), max_delay, and jitter (0 to
    1, 'equal' or 'full'), default exponential from 20 s to 1 h. How long: `timeout` of an attempt, 1 ms or more, or math.inf, default 300;
    `heartbeat_timeout`: a heartbeat extends it to this long from then, default 120, 0: nothing extends it. `keep`: how long it is kept once
    it has ended, 0 or more, or 'forever', default: as its queue says; `log_lines` that each run keeps, 0 to 10,000, default 100.

    Once: `idempotency_key`, with `idempotency_ttl`, default a day; `unique`: a key, or (key, 'skip' | 'replace' | 'reschedule' | 'error'), with
    'start' as a third item to hold it until the start alone; `debounce`: a dict of key, delay, mode ('trailing' | 'leading'), max_delay;
    `throttle`: a dict of key, period. `tags`: at most 32. `meta`: up to 16,384 characters of JSON.

    Raises Error (OPTION_TYPE, OPTION_RANGE), whose details are `option` and the `limit` that it broke."""
    fields = [valid_name("name", given("name", name)), encode_data(data), valid_name("queue", queue)]
    fields += [integer("priority", priority, -1_000_000, 1_000_000)]
    fields += [milliseconds("delay", delay), time_ms("run_at", run_at), key("idempotency_key", idempotency_key)]
    fields.append(None if unique is None else _unique(unique))
    fields += [integer("max_attempts", max_attempts, 1, 100_000), milliseconds("timeout", timeout, 1, True)]
    fields += [milliseconds("heartbeat_timeout", heartbeat_timeout), None if backoff is None else _backoff(backoff)]
    fields += [milliseconds("ttl", ttl, 1), milliseconds("idempotency_ttl", idempotency_ttl, 1), integer("weight", weight, 1, 1_000_000)]
    fields += [key("concurrency_key", concurrency_key), tag_list(tags) or None, meta_text(meta)]
    fields += [None if debounce is None else _debounce(debounce), None if throttle is None else _throttle(throttle)]
    fields += [milliseconds("max_age", max_age, 1), integer("tokens", tokens, 1, 1_000_000_000)]
    fields += [integer("max_lost", max_lost, 0, 100_000), DURATION_MS if keep == FOREVER else milliseconds("keep", keep)]
    fields.append(integer("log_lines", log_lines, 0, 10_000))
    return NewJob(trimmed(fields))


def job_from(call: str, name: str, data: Any, options: Mapping[str, Any]) -> NewJob:
    """`new_job` of a call: what is wrong is told by the name of that call. Raises TypeError, Error."""
    known_options(call, options)
    return new_job(name, data, **options)


def known_options(call: str, options: Mapping[str, Any], known: Optional[Mapping[str, Any]] = None) -> None:
    """Raises TypeError, as Python does, by the name of what was called, with the nearest name that there is. `known`: those of a job."""
    known = known or new_job.__kwdefaults__ or {}
    for each in options:
        if each not in known:
            hint = nearest(each, known) or "; it takes %s" % ", ".join(known)
            raise TypeError("%s got an unexpected keyword argument %r%s" % (call, each, hint))


def job_list(jobs: Any, option: str = "jobs") -> List[NewJob]:
    """What `new_job` has returned, each. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    if isinstance(jobs, (str, bytes, Mapping, NewJob)) or not hasattr(jobs, "__iter__"):
        raise type_error(option, "a list of new_job(...), got %r" % (jobs,))
    listed: List[NewJob] = list(jobs)
    for job in listed:
        if not isinstance(job, NewJob):
            raise type_error(option, "a list of new_job(...), got %r in it" % (job,))
    if len(listed) > JOBS_MAX:
        raise range_error(option, JOBS_MAX, "at most %d in one call, got %d" % (JOBS_MAX, len(listed)))
    return listed


def without(job: NewJob, fields: Mapping[int, str], why: str) -> None:
    for place, option in fields.items():
        if len(job) > place and job[place] is not None:
            raise type_error(option, "left out: %s" % why)


def handlers_of(handlers: Any) -> Dict[str, Callable[[Any], Any]]:
    """Raises Error (OPTION_TYPE)."""
    if not isinstance(handlers, Mapping) or not handlers:
        raise type_error("handlers", "a dict of functions by name of job, got %r" % (handlers,))
    for each, handler in handlers.items():
        valid_name("handlers", given("handlers", each))
        if not callable(handler):
            raise type_error("handlers", "a dict of functions by name of job, got %r for %r" % (handler, each))
    return dict(handlers)


def defaults_of(handler: str, options: Mapping[str, Any]) -> List[Any]:
    """The defaults of a name of job, for jobs that are enqueued by name alone."""
    given_options: Dict[str, Any] = dict(options)
    weak = given_options.pop("weak", None)
    known_options("the defaults of %r" % handler, given_options)
    job = new_job("defaults", **given_options) + [None] * 25
    # NewJob and Defaults have the same fields in another order.
    places = [job[2], job[3], job[14], job[8], job[9], job[10], job[11], job[20], weak, job[12]]
    return trimmed(places + job[21:25])


def _unique(unique: Any) -> List[Any]:
    parts: Sequence[Any] = (unique,) if isinstance(unique, str) else unique
    if not isinstance(parts, (tuple, list)) or not 1 <= len(parts) <= 3:
        raise type_error("unique", "a key, or a tuple of a key, %s, and maybe 'start', got %r" % (" | ".join(ON_CONFLICT), unique))
    held, on_conflict, until = [*parts, *("skip", None)[len(parts) - 1 :]] if len(parts) < 3 else parts
    place = None if until is None else choice("unique", until, UNTILS)
    return trimmed([key("unique", given("unique", held)), choice("unique", on_conflict, ON_CONFLICT), place])


def _debounce(debounce: Any) -> List[Any]:
    said = mapping("debounce", debounce, ("mode", "max_delay"), ("key", "delay"))
    fields = [key("debounce.key", said["key"]), milliseconds("debounce.delay", said["delay"], 1)]
    mode = choice("debounce.mode", said.get("mode", "trailing"), DEBOUNCE_MODES)
    return trimmed([*fields, mode, milliseconds("debounce.max_delay", said.get("max_delay"), 1)])


def _throttle(throttle: Any) -> List[Any]:
    said = mapping("throttle", throttle, (), ("key", "period"))
    return [key("throttle.key", said["key"]), milliseconds("throttle.period", said["period"], 1)]


def _backoff(backoff: Any) -> List[Any]:
    said = mapping("backoff", backoff, ("factor", "max_delay", "jitter"), ("type", "delay"))
    spread = said.get("jitter")
    jitter = JITTERS[spread] if isinstance(spread, str) and spread in JITTERS else number("backoff.jitter", spread, 0, 1)
    fields = [choice("backoff.type", said["type"], BACKOFFS), milliseconds("backoff.delay", said["delay"])]
    factor, most = number("backoff.factor", said.get("factor"), 1, 1000), milliseconds("backoff.max_delay", said.get("max_delay"))
    if factor is not None and said["type"] != "exponential":
        raise type_error("backoff.factor", "left out with type %r: it belongs to 'exponential'" % (said["type"],))
    return trimmed([*fields, factor, most, jitter])
