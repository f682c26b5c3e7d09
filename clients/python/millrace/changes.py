"""The calls of the client that change jobs, flows and schedules; see `operations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._options import JobOptions
from ._schema import CHANGES, KEYED_CALLS, ON_PARENT_FAILURE, SCHEDULE, SLICE
from .data import encode_data
from .encoding import (
    NewJob, Seconds, Time, choice, encoded, flag, held_key, job_from, job_key, job_list, meta_text, milliseconds, number, scalar, time_ms, trimmed,
)
from .errors import range_error, type_error
from .keys import JobKey, JobOfKey, JobRef
from ._readers import schedule_set
from .requests import Request, Steps, nothing
from .views import Batch, ScheduleSet

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

T = TypeVar("T")
FlowNode = Union[NewJob, Tuple[NewJob, Sequence[str]], Tuple[NewJob, Sequence[str], str]]
UNSET: Any = object()


def enqueue(name: str, data: Any = None, **options: Unpack[JobOptions]) -> Request[JobKey]:
    """The job's key, once it is on disk. For the options see `new_job`. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
    return Request("enqueue", [job_from("enqueue()", name, data, options)], read=_first)


def enqueue_many(jobs: Iterable[NewJob]) -> Request[List[JobKey]]:
    """All of them or none, at most 10,000: `new_job(...)` each. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    return Request("enqueue", job_list(jobs), read=lambda enqueued: [key for key, _created in enqueued])


def cancel(job: JobRef, reason: Optional[str] = None, by: Optional[str] = None, *, descendants: bool = False) -> Request[str]:
    """'cancelled', or 'cancelling' where it runs. The job stores the reason, of up to 1,000 characters, and who cancelled it, of up
    to 128: by default the name of the token. With `descendants` also all jobs of its flow that wait for it: then the answer may be
    'finished'. Raises Error (JOB_FINISHED, JOB_NOT_FOUND, OPTION_RANGE)."""
    op = "cancelTree" if flag("descendants", descendants) else "cancel"
    return _about(op, job, str, scalar("reason", reason), scalar("by", by))


def retry(job: JobRef, *, descendants: bool = False) -> Request[None]:
    """Runs a failed or cancelled job again from its first attempt, and one that waits for its retry at once. With `descendants` also
    all jobs of its flow that wait for it. Raises Error (JOB_NOT_FOUND, JOB_SCHEDULED, PARENT_FAILED)."""
    return _about("retryTree" if flag("descendants", descendants) else "retry", job, nothing)


def run_now(job: JobRef) -> Request[None]:
    """Makes a scheduled job due now. Raises Error (JOB_NOT_FOUND, JOB_FINISHED)."""
    return _about("runNow", job, nothing)


def delete(job: JobRef) -> Request[None]:
    """Removes a job that is not running, and what belongs to it. Raises Error (JOB_ACTIVE, JOB_NOT_FOUND)."""
    return _about("delete", job, nothing)


def update(
    job: JobRef,
    *,
    data: Any = UNSET,
    run_at: Optional[Time] = None,
    priority: Optional[int] = None,
    weight: Optional[int] = None,
    checkpoint: Any = UNSET,
    tags: Optional[Iterable[str]] = None,
    meta: Any = None,
) -> Request[None]:
    """Changes a job that has not started: what is left out stays as it is. `tags` and `meta` replace all that it has. Raises Error
    (JOB_ACTIVE, JOB_FINISHED, JOB_NOT_FOUND, OPTION_TYPE, OPTION_RANGE)."""
    changes: Dict[str, Any] = {"run_at": run_at, "priority": priority, "weight": weight, "tags": tags, "meta": meta}
    fields = encoded(CHANGES, changes)
    for place, (option, value) in {0: ("data", data), 4: ("checkpoint", checkpoint)}.items():
        fields[place] = None if value is UNSET else [encode_data(value, option)]
    if not trimmed(fields):
        raise type_error("changes", "given: %s" % ", ".join(CHANGES))
    return _about("update", job, nothing, trimmed(fields))


def release_key(of: JobOfKey) -> Request[bool]:
    """Takes a key from the job that holds it, so that another call may use it. The job continues, and is not found by the key any more.
    False if no job holds the key. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    return Request("byKey", held_key(of), KEYED_CALLS.index("release"), read=bool)


def _about(op: str, job: Any, read: Callable[[Any], T], *fields: Any) -> Request[T]:
    """A call about one job, by its id or by a key: the engine finds the job of a key in the turn that decides the call."""
    if not isinstance(job, JobOfKey):
        return Request(op, job_key(job), *fields, read=read)
    changes, cancellation = (fields, ()) if op == "update" else ((None,), fields)
    return Request("byKey", held_key(job), KEYED_CALLS.index(op), *changes, *cancellation, read=read)


def redrive(queue: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None) -> Steps[int]:
    """Retries failed jobs, the oldest failure first, slice by slice: of a queue or a name, or all. Returns how many, at most `limit`.
    Jobs that fail again meanwhile are left alone."""
    return _redrive((scalar("queue", queue), scalar("name", name)), number("limit", limit, 1))


def _redrive(wanted: Tuple[Any, Any], limit: Optional[int]) -> Steps[int]:
    """Slice by slice, so that no turn of the engine is long."""
    count, after = 0, None
    while True:
        size = SLICE if limit is None else min(limit - count, SLICE)
        done = yield Request("redrive", *wanted, size, after, read=lambda said: said)
        # Jobs that fail again meanwhile come last. If they were retried too, this might never end.
        if after is None:
            limit = done["failed"] if limit is None else min(limit, done["failed"])
        count += int(done["count"])
        last = done["next"]
        if last is None or limit is None or count >= limit:
            return count
        after = [last["finishedAt"], last["seq"]]


def flow(
    nodes: Mapping[str, FlowNode], idempotency_key: Optional[str] = None, idempotency_ttl: Optional[Seconds] = None
) -> Request[Dict[str, JobKey]]:
    """Jobs that wait for one another, all or none: a dict by ref of `new_job(...)`, or of a tuple of it, the refs that it waits for,
    and if it is not 'fail' what happens to it when one of those fails: 'continue', 'ignore', 'cancel' or 'run'. Each stands behind
    those that it waits for. Returns their keys by ref."""
    if not isinstance(nodes, Mapping):
        raise type_error("nodes", "a dict of new_job(...) by ref, each behind those that it waits for, got %r" % (nodes,))
    places: Dict[str, int] = {}
    sent = []
    for ref, said in nodes.items():
        sent.append(_node(ref, said, places))
        places[ref] = len(places)
    once = (scalar("idempotency_key", idempotency_key), milliseconds("idempotency_ttl", idempotency_ttl))
    return Request("flow", sent, *once, read=lambda first: _flow_keys(first, list(places)))


def batch(
    jobs: Iterable[NewJob],
    callback: Optional[NewJob] = None,
    *,
    on_success: Optional[NewJob] = None,
    on_failure: Optional[NewJob] = None,
    on_end: Optional[NewJob] = None,
    idempotency_key: Optional[str] = None,
    idempotency_ttl: Optional[Seconds] = None,
) -> Request[Batch]:
    """Jobs, and callbacks that run by how these end, all or none: at most 10,000 in all, `new_job(...)` each, without keys. `callback` and
    `on_end` run when all have ended in any state. `on_success` runs if all have completed, and is cancelled if one does not. `on_failure`
    runs at the first one that fails, is cancelled or is deleted; if all complete, it leaves no trace. Give `callback` alone, or one or more of the others. A
    callback reads how the jobs have ended with `job.parents()`. `idempotency_key`: a repeat is answered with the first batch. Raises
    Error (OPTION_TYPE, OPTION_RANGE)."""
    listed = job_list(jobs)
    callbacks = {"callback": callback, "on_success": on_success, "on_failure": on_failure, "on_end": on_end}
    wanted = {ref: job for ref, job in callbacks.items() if job is not None}
    if not wanted:
        raise type_error("callback", "given, or on_success, on_failure or on_end: a job that runs when those of the batch have ended")
    if "callback" in wanted and len(wanted) > 1:
        raise type_error("callback", "left out with on_success, on_failure and on_end: it is what on_end is")
    if not listed and "on_failure" in wanted:
        raise range_error("jobs", 1, "at least one with on_failure: none can fail")
    refs = [str(place) for place in range(len(listed))]
    places = {ref: place for place, ref in enumerate(refs)}
    sent = [_node(ref, job, {}) for ref, job in zip(refs, listed)]
    sent += [_node(ref, (*job_list([job], ref), refs, CALLBACKS[ref]), places) for ref, job in wanted.items()]
    once = (scalar("idempotency_key", idempotency_key), milliseconds("idempotency_ttl", idempotency_ttl))
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
    if not isinstance(parents, (list, tuple)):
        raise type_error("nodes", "told the refs that %r waits for as a list, got %r" % (ref, parents))
    for parent in parents:
        if not isinstance(parent, str) or parent not in places:
            raise type_error("nodes", "in order: %r waits for %r, which is not before it" % (ref, parent))
    place = None if on_failure is None else choice("on_parent_failure", on_failure, ON_PARENT_FAILURE)
    return trimmed([scalar("ref", ref), job, [places[parent] for parent in parents] or None, place])


def _flow_keys(first: Mapping[str, Any], refs: Iterable[str]) -> Dict[str, JobKey]:
    return {ref: JobKey(first["seq"] + place, first["node"], first["enqueuedAt"]) for place, ref in enumerate(refs)}


def upsert_schedule(
    id: str,
    job: NewJob,
    *,
    cron: Optional[str] = None,
    timezone: Optional[str] = None,
    every: Optional[Seconds] = None,
    start_at: Optional[Time] = None,
    end_at: Optional[Time] = None,
    jitter: Optional[Seconds] = None,
    overlap: Optional[str] = None,
    catch_up: Optional[str] = None,
    catch_up_within: Optional[Seconds] = None,
    max_runs: Optional[int] = None,
    run_immediately: bool = False,
    paused: Optional[bool] = None,
    update_waiting: bool = False,
    create_only: bool = False,
    unchanged_since: Optional[Time] = None,
) -> Request[ScheduleSet]:
    """Creates the schedule, or changes it: one whose ticks stay the same keeps its next, so you can call this at each start. `job` is
    `new_job(...)` without keys, delay and run_at. Give `cron`, with `timezone`, or `every`, of at least 1 s. `overlap`: 'skip',
    'queue', 'cancel' or 'allow'; `catch_up`: 'latest', 'all' or 'none'; `jitter`: up to 86,400 s; docs/schedules.md says what each
    means. With `create_only`, one that is there is refused (SCHEDULE_EXISTS); with `unchanged_since`, the `updated_at` that you have
    read, one that was changed since (SCHEDULE_CHANGED). Raises Error (INVALID_SCHEDULE, OPTION_TYPE, OPTION_RANGE)."""
    given = {name: value for name, value in locals().items() if name in SCHEDULE}
    (wanted,) = job_list([job], "job")
    fields: List[Any] = [trimmed(encoded(SCHEDULE, given)), wanted, flag("run_immediately", run_immediately), scalar("paused", paused)]
    fields += [flag("create_only", create_only), time_ms("unchanged_since", unchanged_since), flag("update_waiting", update_waiting)]
    return Request("upsertSchedule", scalar("id", id), *fields, read=schedule_set)


def delete_schedule(id: str) -> Request[None]:
    """Removes the schedule, and its last job if that has not started. Raises Error (SCHEDULE_NOT_FOUND), as all below."""
    return Request("deleteSchedule", scalar("id", id), read=nothing)


def pause_schedule(id: str) -> Request[None]:
    """No tick fires until `resume_schedule`."""
    return Request("pauseSchedule", scalar("id", id), read=nothing)


def resume_schedule(id: str) -> Request[None]:
    """Resumes with the first tick from now: none is caught up."""
    return Request("resumeSchedule", scalar("id", id), read=nothing)


def trigger_schedule(id: str, meta: Optional[Mapping[str, Any]] = None) -> Request[JobKey]:
    """Enqueues the schedule's job now, with `meta` over that of the job, and returns its key."""
    return Request("triggerSchedule", scalar("id", id), meta_text("meta", meta), read=_first)


def _first(enqueued: List[Tuple[JobKey, bool]]) -> JobKey:
    return enqueued[0][0]
