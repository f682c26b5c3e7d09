"""The calls of the client that change jobs, flows and schedules; see `operations`."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._options import JobChanges, JobOptions, OnceOptions, ScheduleOptions, Unpack
from ._schema import CHANGES, ON_PARENT_FAILURE, SCHEDULE, SLICE
from .encoding import NewJob, Seconds, changed, choice, encoded, flag, job_from, job_list, number, scalar, trimmed
from .errors import range_error, type_error
from .keys import JobKey, JobOfKey, JobRef
from ._readers import schedule_set
from .requests import Request, Steps, asked, nothing
from .views import Batch, ScheduleSet

T = TypeVar("T")
FlowNode = Union[NewJob, Tuple[NewJob, Sequence[str]], Tuple[NewJob, Sequence[str], str]]


def enqueue(name: str, data: Any = None, **options: Unpack[JobOptions]) -> Request[JobKey]:
    """The job's key, once it is on disk. For the options see `new_job`."""
    return asked("enqueue", _first, jobs=[job_from("enqueue()", name, data, options)])


def enqueue_many(jobs: Iterable[NewJob]) -> Request[List[JobKey]]:
    """All of them or none, {enqueue.jobs}: `new_job(...)` each."""
    return asked("enqueue", lambda enqueued: [key for key, _created in enqueued], jobs=jobs)


def cancel(job: JobRef, reason: Optional[str] = None, by: Optional[str] = None, *, descendants: bool = False) -> Request[str]:
    """'cancelled', or 'cancelling' where it runs. The job stores the reason, {cancel.reason}, and who cancelled it,
    {cancel.by}: by default the name of the token. With `descendants` also all jobs of its flow that wait for it: then the answer may be
    'finished'. Raises Error (JOB_FINISHED, JOB_NOT_FOUND)."""
    return _about("cancelTree" if flag("descendants", descendants) else "cancel", job, str, reason=reason, by=by)


def retry(job: JobRef, *, descendants: bool = False, from_: Optional[str] = None) -> Request[None]:
    """Runs a failed or cancelled job again from its first attempt, and one that waits for its retry at once. With `descendants` also
    all jobs of its flow that wait for it. A job with recorded steps resumes at the first one that has failed, or at `from_`: the name of
    a step, or 'start'. Raises Error (AMBIGUOUS_RETRY, JOB_NOT_FOUND, JOB_SCHEDULED, PARENT_FAILED)."""
    if not flag("descendants", descendants):
        return _about("retry", job, nothing, from_=from_)
    if from_ is not None:
        raise type_error("from_", "left out with descendants: it names a step of this job")
    return _about("retryTree", job, nothing)


def send(
    job: JobRef, message: str, data: Any = None, *, idempotency_key: Optional[str] = None, by: Optional[str] = None
) -> Request[str]:
    """Sends a message to a job, whose handler takes it now or later: 'taken' where it has woken the job, 'kept' where it is stored for a later
    wait, 'known' where a message with that `idempotency_key` was sent to the job before. `by`: who sends it, by default the name of the
    token. Raises Error (JOB_FINISHED, JOB_NOT_FOUND, MESSAGES_FULL)."""
    to: Mapping[str, Any] = {"of" if isinstance(job, JobOfKey) else "job": job}
    return asked("send", str, message=message, data=data, idempotency_key=idempotency_key, by=by, **to)


def run_now(job: JobRef) -> Request[None]:
    """Makes a scheduled job due now. Raises Error (JOB_NOT_FOUND, JOB_FINISHED)."""
    return _about("runNow", job, nothing)


def delete(job: JobRef) -> Request[None]:
    """Removes a job that is not running, and what belongs to it. Raises Error (JOB_ACTIVE, JOB_NOT_FOUND)."""
    return _about("delete", job, nothing)


def update(job: JobRef, **changes: Unpack[JobChanges]) -> Request[None]:
    """Changes a job that has not started: what is left out stays as it is.

    {JobChanges}

    Raises Error (JOB_ACTIVE, JOB_FINISHED, JOB_NOT_FOUND)."""
    return _about("update", job, nothing, changes=changed(CHANGES, changes))


def release_key(of: JobOfKey) -> Request[bool]:
    """Takes a key from the job that holds it, so that another call may use it. The job continues, and is not found by the key any more.
    False if no job holds the key."""
    return asked("byKey", bool, job=of, call="release")


def _about(op: str, job: Any, read: Callable[[Any], T], **given: Any) -> Request[T]:
    """A call about one job, by its id or by a key: the engine finds the job of a key in the turn that decides the call."""
    return asked("byKey", read, job=job, call=op, **given) if isinstance(job, JobOfKey) else asked(op, read, job=job, **given)


def redrive(queue: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None) -> Steps[int]:
    """Retries failed jobs, the oldest failure first, slice by slice: of a queue or a name, or all. Returns how many, at most `limit`.
    Jobs that fail again meanwhile are left alone."""
    first: Request[Any] = asked("redrive", lambda said: said, queue=queue, name=name)
    limit, count, after = number("limit", limit, 1), 0, None
    # Slice by slice, so that no turn of the engine is long.
    while True:
        size = SLICE if limit is None else min(limit - count, SLICE)
        done = yield first.behind(after, limit=size)
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
    once = {"idempotency_key": idempotency_key, "idempotency_ttl": idempotency_ttl}
    return asked("flow", lambda first: _flow_keys(first, list(places)), nodes=sent, **once)


def batch(
    jobs: Iterable[NewJob],
    callback: Optional[NewJob] = None,
    *,
    on_success: Optional[NewJob] = None,
    on_failure: Optional[NewJob] = None,
    on_end: Optional[NewJob] = None,
    **once: Unpack[OnceOptions]
) -> Request[Batch]:
    """Jobs, and callbacks that run by how these end, all or none: {flow.nodes} in all, `new_job(...)` each, without keys. `callback` and
    `on_end` run when all have ended in any state. `on_success` runs if all have completed, and is cancelled if one does not. `on_failure`
    runs at the first one that fails, is cancelled or is deleted; if all complete, it leaves no trace. Give `callback` alone, or one or
    more of the others. A callback reads how the jobs have ended with `job.parents()`. `idempotency_key`: a repeat is answered with the first
    batch."""
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
    return asked("flow", lambda first: _batch(_flow_keys(first, [*refs, *wanted]), len(refs)), nodes=sent, **once)


CALLBACKS = {"callback": "continue", "on_success": "cancel", "on_failure": "run", "on_end": "continue"}


def _batch(keys: Mapping[str, JobKey], jobs: int) -> Batch:
    listed = list(keys.items())
    return Batch(str(listed[0][1]), [key for _, key in listed[:jobs]], dict(listed[jobs:]))


def _node(ref: Any, said: Any, places: Mapping[str, int]) -> List[Any]:
    parts = said if isinstance(said, tuple) else (said,)
    if not 1 <= len(parts) <= 3 or not isinstance(parts[0], NewJob):
        raise type_error("nodes", "new_job(...) each, or a tuple of it, the refs that it waits for, and on_parent_failure, got %r" % (said,))
    job, parents, on_failure = parts[0], parts[1] if len(parts) > 1 else (), parts[2] if len(parts) > 2 else None
    if not isinstance(parents, (list, tuple)) or not all(isinstance(each, str) and each in places for each in parents):
        raise type_error("nodes", "in order: %r waits for %r, which is no list of refs before it" % (ref, parents))
    place = None if on_failure is None else choice("on_parent_failure", on_failure, ON_PARENT_FAILURE)
    return trimmed([scalar("ref", ref), job, [places[parent] for parent in parents] or None, place])


def _flow_keys(first: Mapping[str, Any], refs: Iterable[str]) -> Dict[str, JobKey]:
    return {ref: JobKey(first["seq"] + place, first["node"], first["enqueuedAt"]) for place, ref in enumerate(refs)}


def upsert_schedule(id: str, job: NewJob, **options: Unpack[ScheduleOptions]) -> Request[ScheduleSet]:
    """Creates the schedule, or changes it: one whose ticks stay the same keeps its next, so you can call this at each start. `job` is
    `new_job(...)` without keys, delay and run_at. Give `cron` or `every`. `unchanged_since` is the `updated_at` that you have read.
    docs/schedules.md describes the options.

    {ScheduleOptions}

    Raises Error (INVALID_SCHEDULE)."""
    spec = trimmed(encoded(SCHEDULE, {name: value for name, value in options.items() if name in SCHEDULE}))
    others = {name: value for name, value in options.items() if name not in SCHEDULE}
    return asked("upsertSchedule", schedule_set, id=id, spec=spec, job=job, **others)


def delete_schedule(id: str) -> Request[None]:
    """Removes the schedule, and its last job if that has not started. Raises Error (SCHEDULE_NOT_FOUND)."""
    return asked("deleteSchedule", nothing, id=id)


def pause_schedule(id: str) -> Request[None]:
    """No tick fires until `resume_schedule`. Raises Error (SCHEDULE_NOT_FOUND)."""
    return asked("pauseSchedule", nothing, id=id)


def resume_schedule(id: str) -> Request[None]:
    """Resumes with the first tick from now: none is caught up. Raises Error (SCHEDULE_NOT_FOUND)."""
    return asked("resumeSchedule", nothing, id=id)


def trigger_schedule(id: str, meta: Optional[Mapping[str, Any]] = None) -> Request[JobKey]:
    """Enqueues the schedule's job now, with `meta` over that of the job, and returns its key. Raises Error (SCHEDULE_NOT_FOUND)."""
    return asked("triggerSchedule", _first, id=id, meta=meta)


def _first(enqueued: List[Tuple[JobKey, bool]]) -> JobKey:
    return enqueued[0][0]
