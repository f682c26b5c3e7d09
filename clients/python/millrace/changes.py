"""What can be asked of the engine that changes jobs, queues and schedules; see `operations`."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, TypeVar

from .data import encode_data
from .errors import range_error, type_error
from .jobs import JOBS_MAX, KEYS, NewJob, job_from, job_list, without
from .keys import JobKey, JobOfKey
from .messages import trimmed
from .operations import REASON_LENGTH, Request, Steps, called
from .options import (
    NAME_LENGTH, choice, flag, given, held_key, integer, job_key, key, meta_text, milliseconds, name as valid_name, number, tag_list, text,
    time_ms, truth,
)
from .reading import schedule_set
from .views import Batch, ScheduleSet

T = TypeVar("T")

OVERLAPS = ("skip", "queue", "cancel", "allow")
CATCH_UPS = ("latest", "all", "none")
SLICE = 500
CRON_LENGTH = 256
FILE_LENGTH = 4096
# What a schedule decides, by the place in a NewJob.
TIMES = {4: "delay", 5: "run_at"}
UNSET: Any = object()


@called
def enqueue(name: str, data: Any, options: Mapping[str, Any]) -> Request[JobKey]:
    return Request("enqueue", [job_from("enqueue()", name, data, options)], read=_first)


@called
def enqueue_many(jobs: Any) -> Request[List[JobKey]]:
    return Request("enqueue", job_list(jobs), read=lambda enqueued: [key for key, _created in enqueued])


@called
def cancel(job: Any, reason: Any, by: Any, descendants: Any) -> Request[str]:
    op = "cancelTree" if flag("descendants", descendants) else "cancel"
    return _about(op, job, str, text("reason", reason, REASON_LENGTH), text("by", by, NAME_LENGTH))


@called
def retry(job: Any, descendants: Any) -> Request[None]:
    return _about("retryTree" if flag("descendants", descendants) else "retry", job, _nothing)


@called
def run_now(job: Any) -> Request[None]:
    return _about("runNow", job, _nothing)


@called
def delete(job: Any) -> Request[None]:
    return _about("delete", job, _nothing)


@called
def update(job: Any, data: Any, run_at: Any, priority: Any, weight: Any, checkpoint: Any, tags: Any, meta: Any) -> Request[None]:
    changes: List[Any] = [None if data is UNSET else [encode_data(data)], time_ms("run_at", run_at)]
    changes += [integer("priority", priority, -1_000_000, 1_000_000), integer("weight", weight, 1, 1_000_000)]
    changes += [None if checkpoint is UNSET else [encode_data(checkpoint, "checkpoint")], tag_list(tags), meta_text(meta)]
    if not trimmed(changes):
        raise type_error("changes", "given: data, run_at, priority, weight, checkpoint, tags or meta")
    return _about("update", job, _nothing, trimmed(changes))


@called
def release_key(of: Any) -> Request[bool]:
    return Request("byKey", held_key(of), KEYED_CALLS.index("release"), read=bool)


KEYED_CALLS = ("cancel", "cancelTree", "retry", "retryTree", "update", "runNow", "delete", "release")


def _about(op: str, job: Any, read: Callable[[Any], T], *fields: Any) -> Request[T]:
    """A call about one job, by its id or by a key: the engine finds the job of a key in the turn that decides the call."""
    if not isinstance(job, JobOfKey):
        return Request(op, job_key(job), *fields, read=read)
    changes, cancellation = (fields, ()) if op == "update" else ((None,), fields)
    return Request("byKey", held_key(job), KEYED_CALLS.index(op), *changes, *cancellation, read=read)


@called
def redrive(queue: Any, name: Any, limit: Any) -> Steps[int]:
    wanted = (valid_name("queue", queue), valid_name("name", name))
    return _redrive(wanted, integer("limit", limit, 1, 2**53 - 1))


def _redrive(wanted: Tuple[Any, Any], limit: Optional[int]) -> Steps[int]:
    """Slice by slice, so that no turn of the engine is long."""
    count, after = 0, None
    while True:
        size = SLICE if limit is None else min(limit - count, SLICE)
        done = yield Request("redrive", *wanted, size, after, read=_same)
        # Jobs that fail again meanwhile come last. If they were retried too, this might never end.
        if after is None:
            limit = done["failed"] if limit is None else min(limit, done["failed"])
        count += int(done["count"])
        last = done["next"]
        if last is None or limit is None or count >= limit:
            return count
        after = [last["finishedAt"], last["seq"]]


@called
def flow(nodes: Any, idempotency_key: Any, idempotency_ttl: Any) -> Request[Dict[str, JobKey]]:
    if not isinstance(nodes, Mapping) or not nodes:
        raise type_error("nodes", "a dict of new_job(...) by ref, each behind those that it waits for, got %r" % (nodes,))
    if len(nodes) > JOBS_MAX:
        raise range_error("nodes", JOBS_MAX, "at most %d in one flow, got %d" % (JOBS_MAX, len(nodes)))
    places: Dict[str, int] = {}
    sent = []
    for ref, said in nodes.items():
        sent.append(_node(ref, said, places))
        places[ref] = len(places)
    once = (key("idempotency_key", idempotency_key), milliseconds("idempotency_ttl", idempotency_ttl, 1))
    return Request("flow", sent, *once, read=lambda first: _flow_keys(first, list(places)))


@called
def batch(jobs: Any, callbacks: Mapping[str, Any], idempotency_key: Any, idempotency_ttl: Any) -> Request[Batch]:
    listed = job_list(jobs)
    wanted = {ref: job for ref, job in callbacks.items() if job is not None}
    if not wanted:
        raise type_error("callback", "given, or on_success, on_failure or on_end: a job that runs when those of the batch have ended")
    if "callback" in wanted and len(wanted) > 1:
        raise type_error("callback", "left out with on_success, on_failure and on_end: it is what on_end is")
    if not listed and "on_failure" in wanted:
        raise range_error("jobs", 1, "at least one with on_failure: none can fail")
    if len(listed) + len(wanted) > JOBS_MAX:
        raise range_error("jobs", JOBS_MAX, "at most %d with the callbacks, got %d" % (JOBS_MAX, len(listed) + len(wanted)))
    refs = [str(place) for place in range(len(listed))]
    places = {ref: place for place, ref in enumerate(refs)}
    sent = [_node(ref, job, {}) for ref, job in zip(refs, listed)]
    sent += [_node(ref, (*job_list([job], ref), refs, CALLBACKS[ref]), places) for ref, job in wanted.items()]
    once = (key("idempotency_key", idempotency_key), milliseconds("idempotency_ttl", idempotency_ttl, 1))
    return Request("flow", sent, *once, read=lambda first: _batch(_flow_keys(first, [*refs, *wanted]), len(refs)))


CALLBACKS = {"callback": "continue", "on_success": "cancel", "on_failure": "run", "on_end": "continue"}


def _batch(keys: Mapping[str, JobKey], jobs: int) -> Batch:
    listed = list(keys.items())
    return Batch(str(listed[0][1]), [key for _, key in listed[:jobs]], dict(listed[jobs:]))


def _node(ref: Any, said: Any, places: Mapping[str, int]) -> List[Any]:
    parts = said if isinstance(said, tuple) else (said,)
    if not 1 <= len(parts) <= 3 or not isinstance(parts[0], NewJob):
        raise type_error("nodes", "new_job(...) each, or a tuple of it, the refs that it waits for, and on_parent_failure, got %r" % (said,))
    job, parents, on_failure = parts[0], parts[1] if len(parts) > 1 else (), parts[2] if len(parts) > 2 else None
    without(job, KEYS, "the jobs of a flow are always new")
    if isinstance(parents, str) or not isinstance(parents, (list, tuple)):
        raise type_error("nodes", "told the refs that %r waits for as a list, got %r" % (ref, parents))
    for parent in parents:
        if not isinstance(parent, str) or parent not in places:
            raise type_error("nodes", "in order: %r waits for %r, which is not before it" % (ref, parent))
    if len(set(parents)) != len(parents):
        raise type_error("nodes", "told each parent once: %r waits for %r" % (ref, parents))
    place = None if on_failure is None else choice("on_parent_failure", on_failure, ON_PARENT_FAILURE)
    return trimmed([key("ref", given("ref", ref)), job, [places[parent] for parent in parents] or None, place])


ON_PARENT_FAILURE = ("fail", "continue", "ignore", "cancel", "run")


def _flow_keys(first: Mapping[str, Any], refs: Iterable[str]) -> Dict[str, JobKey]:
    return {ref: JobKey(first["seq"] + place, first["node"], first["enqueuedAt"]) for place, ref in enumerate(refs)}


@called
def pause_queue(queue: Any, name: Any, key: Any, duration: Any) -> Request[None]:
    return _paused(queue, name, key, True, milliseconds("duration", duration, 1))


@called
def resume_queue(queue: Any, name: Any, key: Any) -> Request[None]:
    return _paused(queue, name, key, False, None)


def _paused(queue: Any, name: Any, concurrency_key: Any, paused: bool, ms: Optional[int]) -> Request[None]:
    if name is not None and concurrency_key is not None:
        raise type_error("key", "left out with a name: a pause is of a queue, of a name in it, or of a key in it")
    part = (valid_name("name", name), key("key", concurrency_key))
    return Request("pause", valid_name("queue", given("queue", queue)), *part, paused, True, ms, read=_nothing)


@called
def drain_queue(queue: Any, timeout: Any) -> Request[None]:
    number("timeout", timeout, 0, math.inf)
    return Request("drainQueue", valid_name("queue", given("queue", queue)), read=_nothing)


@called
def delete_queue(queue: Any) -> Request[bool]:
    return Request("deleteQueue", valid_name("queue", given("queue", queue)), read=bool)


@called
def stop_worker(worker: Any, timeout: Any) -> Request[None]:
    fields = (valid_name("worker", given("worker", worker)), milliseconds("timeout", given("timeout", timeout), 0, True))
    return Request("stopWorker", *fields, read=_nothing)


@called
def delete_export(name: Any) -> Request[bool]:
    return Request("deleteExport", valid_name("name", given("name", name)), read=bool)


@called
def backup(file: Any) -> Request[int]:
    return Request("backup", text("file", given("file", file), FILE_LENGTH), read=lambda said: int(said["bytes"]))


def pause_all(paused: bool) -> Request[None]:
    return Request("pauseAll", paused, read=_nothing)


@called
def upsert_schedule(
    id: Any, job: Any, cron: Any, timezone: Any, every: Any, start_at: Any, end_at: Any, jitter: Any, overlap: Any, catch_up: Any,
    catch_up_within: Any, max_runs: Any, run_immediately: Any, paused: Any, update_waiting: Any, create_only: Any, unchanged_since: Any,
) -> Request[ScheduleSet]:
    if (cron is None) == (every is None):
        raise type_error("cron", "given, or else every: one of them")
    if cron is None and timezone is not None:
        raise type_error("timezone", "left out with every, which is the same in all zones")
    if paused and run_immediately:
        raise type_error("paused", "left out with run_immediately")
    spec = [text("cron", cron, CRON_LENGTH), text("timezone", timezone, NAME_LENGTH), milliseconds("every", every, 1_000)]
    spec += [time_ms("start_at", start_at), time_ms("end_at", end_at), milliseconds("jitter", number("jitter", jitter, 0, 86_400))]
    spec += [None if overlap is None else choice("overlap", overlap, OVERLAPS)]
    spec += [None if catch_up is None else choice("catch_up", catch_up, CATCH_UPS)]
    spec += [milliseconds("catch_up_within", catch_up_within, 1), integer("max_runs", max_runs, 1, 1_000_000_000)]
    fields: List[Any] = [trimmed(spec), _scheduled(job), flag("run_immediately", run_immediately), truth("paused", paused)]
    fields += [flag("create_only", create_only), time_ms("unchanged_since", unchanged_since), flag("update_waiting", update_waiting)]
    return Request("upsertSchedule", valid_name("id", given("id", id)), *fields, read=schedule_set)


def _scheduled(job: Any) -> NewJob:
    (wanted,) = job_list([job], "job")
    without(wanted, TIMES, "the schedule says when")
    without(wanted, KEYS, "the jobs of a schedule are always new")
    return wanted


@called
def delete_schedule(id: Any) -> Request[None]:
    return Request("deleteSchedule", valid_name("id", given("id", id)), read=_nothing)


@called
def pause_schedule(id: Any) -> Request[None]:
    return Request("pauseSchedule", valid_name("id", given("id", id)), read=_nothing)


@called
def resume_schedule(id: Any) -> Request[None]:
    return Request("resumeSchedule", valid_name("id", given("id", id)), read=_nothing)


@called
def trigger_schedule(id: Any, meta: Any) -> Request[JobKey]:
    if meta is not None and not isinstance(meta, Mapping):
        raise type_error("meta", "a dict, got %r" % (meta,))
    return Request("triggerSchedule", valid_name("id", given("id", id)), meta_text(meta), read=_first)


def _first(enqueued: List[Tuple[JobKey, bool]]) -> JobKey:
    return enqueued[0][0]


def _nothing(_answer: Any) -> None:
    return None


def _same(value: Any) -> Any:
    return value
