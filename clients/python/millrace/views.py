"""What answers look like: data is decoded, times are datetimes in UTC, durations are in seconds, ids are strings. None stands for what is
not there, and for a duration without an end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, List, Optional, TypedDict, Union

from .keys import JobKey


class Cause(TypedDict, total=False):
    """One link of the chain of causes of an error; `code` only if it has one."""

    name: str
    message: str
    code: str


class RunError(TypedDict, total=False):
    """What a run has failed with: always the `name` of the error's class and its `message`; `stack`, `code` and `cause`, the chain of its
    causes with the nearest first, only if it has them."""

    name: str
    message: str
    stack: str
    code: str
    cause: List[Cause]


@dataclass(frozen=True)
class LogLine:
    """A line that a handler has logged. `number` counts from 0 within its run; None in the answer of `get`."""

    at: datetime
    level: str
    message: str
    fields: Dict[str, Any]
    number: Optional[int] = None


@dataclass(frozen=True)
class AttemptInfo:
    """A run that is active, completed or failed, or that logged before it was given back or snoozed: that one has no `error`. `ended_at` is
    None while it is active."""

    run: int
    attempt: int
    worker: str
    started_at: Optional[datetime]
    ended_at: Optional[datetime]
    error: Optional[RunError]
    logs: List[LogLine]


@dataclass(frozen=True)
class FlowPlace:
    """The place of a job in its flow. `id` is the flow's; `parents` is the number of jobs that it waits for."""

    id: str
    ref: str
    parents: int
    on_parent_failure: str


@dataclass(frozen=True)
class LastRun:
    """The last run of a job, in lists that ask for it. `ended_at` is None while it is active. `error` has the `name` and the first 300 characters
    of the `message`; None if the run has not failed."""

    run: int
    worker: str
    started_at: Optional[datetime]
    ended_at: Optional[datetime]
    error: Optional[RunError]


@dataclass(frozen=True)
class JobInfo:
    """A job as `get` and `jobs` answer it. `attempts` is empty in lists. `progress` is from 0 to 1. `original_run_at` is the `run_at` of the
    first run, if it has moved since. `deadline_at`: when the engine ends the run, unless a heartbeat extends it; None in lists. `keep`: how long the job is kept once it
    has ended, 'forever', or None for what its queue says. `payload_bytes` has the stored sizes of data, output and checkpoint, if the call has
    asked for `payload='none'`; `last_run` is None unless the call asks for it, and if no run is known."""

    id: str
    name: str
    queue: str
    state: str
    data: Any
    output: Any
    checkpoint: Any
    progress: Optional[float]
    progress_note: Optional[str]
    progress_value: Any
    run: int
    attempt: int
    max_attempts: int
    max_lost: Optional[int]
    max_age: Optional[float]
    timeout: Optional[float]
    heartbeat_timeout: Optional[float]
    backoff: Dict[str, Any]
    tokens: int
    keep: Union[None, float, str]
    log_lines: int
    priority: int
    weight: int
    enqueued_at: datetime
    run_at: datetime
    original_run_at: Optional[datetime]
    started_at: Optional[datetime]
    deadline_at: Optional[datetime]
    finished_at: Optional[datetime]
    expires_at: Optional[datetime]
    cancel_requested: bool
    cancel_reason: Optional[str]
    cancelled_by: Optional[str]
    lost_runs: int
    tags: List[str]
    meta: Any
    idempotency_key: Optional[str]
    unique_key: Optional[str]
    concurrency_key: Optional[str]
    flow: Optional[FlowPlace]
    attempts: List[AttemptInfo]
    payload_bytes: Optional[Dict[str, Optional[int]]] = None
    last_run: Optional[LastRun] = None


@dataclass(frozen=True)
class QueueInfo:
    """A queue. `settings` has what it was told, by the names of docs/limits.md in small letters (`concurrency_limit`). `pause_ends` are
    dicts of `job` or `key`, and `until`. `rate` is a dict of `tokens` that are available and `next_at`, None without a rate limit."""

    name: str
    settings: Dict[str, Any]
    paused: bool
    paused_until: Optional[datetime]
    paused_jobs: List[str]
    paused_keys: List[str]
    pause_ends: List[Dict[str, Any]]
    paused_left_out: int
    states: Dict[str, int]
    retrying: Optional[int]
    totals: Dict[str, int]
    oldest_waiting: float
    shared_active: Optional[int]
    rate: Optional[Dict[str, Any]]


@dataclass(frozen=True)
class WorkerInfo:
    """A worker that is attached. `session` is its number. `attached_at` and `last_seen_at` are by the engine's clock; None if it has yet to
    come back to an engine that was opened since. `kind`: 'inline', 'threads', 'processes', 'remote' or 'foreign', as this client."""

    id: str
    session: int
    host: str
    pid: int
    names: List[str]
    queues: Optional[List[str]]
    order: str
    min_concurrency: int
    max_concurrency: int
    running_jobs: int
    running_weight: int
    zombies: int
    draining: bool
    paused: bool
    away: bool
    attached_at: Optional[datetime]
    last_seen_at: Optional[datetime]
    next_deadline_at: Optional[datetime]
    kind: Optional[str]
    version: Optional[str]
    event_loop_delay: Optional[float]
    rss_bytes: Optional[int]


@dataclass(frozen=True)
class ScheduleInfo:
    """A schedule. `spec` has what `upsert_schedule` takes, and `job` what `new_job` takes, without `data` in lists. `next_run_at` is None
    while it is paused and after its last tick. `last_result` is a dict of `state`, `output` and `error` of its last job; None in lists, and
    if that job is no longer kept."""

    id: str
    spec: Dict[str, Any]
    job: Dict[str, Any]
    paused: bool
    next_run_at: Optional[datetime]
    next_runs: List[datetime]
    last_run_at: Optional[datetime]
    last_job: Optional[str]
    last_result: Optional[Dict[str, Any]]
    runs: int
    skipped: int
    created_at: Optional[datetime]
    updated_at: Optional[datetime]


@dataclass(frozen=True)
class ScheduleSet:
    """What `upsert_schedule` has done. `created` is False if there was one. `waiting_updated` is the number of waiting jobs that were
    changed; None unless the call asked for it."""

    created: bool
    next_run_at: Optional[datetime]
    waiting_updated: Optional[int]


@dataclass(frozen=True)
class FlowInfo:
    """A flow. `id` is that of its first job; `name` and `queue` are those of its first job that is kept; `states` counts those that are
    kept. `finished_at` is None while it runs."""

    id: str
    name: str
    queue: str
    state: str
    states: Dict[str, int]
    finished_at: Optional[datetime]


@dataclass(frozen=True)
class FlowDependency:
    """A job that a job of a flow waits for. `ref` is empty if it is no longer stored. `told` is its final state as the waiting job knows it,
    'deleted', or None until it ends."""

    id: str
    ref: str
    told: Optional[str]


@dataclass(frozen=True)
class FlowJob:
    """A job of a flow; `get` has the rest. `parents` is the number of jobs that it waits for, and `depends_on` has them in the order in which they
    were named."""

    id: str
    ref: str
    name: str
    queue: str
    state: str
    attempt: int
    run_at: datetime
    started_at: Optional[datetime]
    finished_at: Optional[datetime]
    on_parent_failure: str
    parents: int
    depends_on: List[FlowDependency]


@dataclass(frozen=True)
class Batch:
    """What `batch` has created. `id` is that of its flow; `jobs` are the keys in the order of the list; `callbacks` are those by 'callback',
    'on_success', 'on_failure' and 'on_end'."""

    id: str
    jobs: List[JobKey]
    callbacks: Dict[str, JobKey]


@dataclass(frozen=True)
class ExportInfo:
    """An export. `cursor` is the last event that it has confirmed, and `behind` the number of events since."""

    name: str
    cursor: int
    behind: int


@dataclass(frozen=True)
class ExportBatch:
    """Jobs that have ended, whole, in the order in which they did. `missed` ended, and were gone before they could be exported. `gap` is an
    event of the type 'gap' if the journal has lost events before the batch; otherwise None."""

    jobs: List[JobInfo]
    missed: int
    gap: Optional[Event]


@dataclass(frozen=True)
class Event:
    """An event. `seq` only grows, and is the cursor. Only events of jobs have a `job`, a `run` and an `attempt`; the events of docs/events.md
    say which have the others. A `gap` stands for events that the journal no longer has: those behind `after` and before `resumes_at`."""

    seq: int
    type: str
    at: Optional[datetime] = None
    job: Optional[str] = None
    queue: Optional[str] = None
    name: Optional[str] = None
    run: Optional[int] = None
    attempt: Optional[int] = None
    error: Optional[str] = None
    progress: Optional[float] = None
    run_at: Optional[datetime] = None
    key: Optional[str] = None
    schedule: Optional[str] = None
    tick: Optional[datetime] = None
    reason: Optional[str] = None
    worker: Optional[str] = None
    session: Optional[str] = None
    after: Optional[int] = None
    resumes_at: Optional[int] = None


@dataclass(frozen=True)
class Stats:
    """Counts of the whole engine. `queues` has the counts of each queue by its name, `names` the timings of each name of job in seconds,
    `unserved` the jobs that no worker serves, `failing` the names of which many runs fail; the fields `..._left_out` count those that a list leaves out. `seq` is the last event that the numbers include. `node` is part of every id of a job."""

    states: Dict[str, int]
    retrying: Optional[int]
    totals: Dict[str, int]
    queues: Dict[str, Dict[str, Any]]
    queues_left_out: int
    unserved: List[Dict[str, Any]]
    unserved_left_out: int
    failing: List[Dict[str, Any]]
    failing_left_out: int
    names: List[Dict[str, Any]]
    definitions: List[Dict[str, Any]]
    workers: int
    paused: bool
    writer: Dict[str, Any]
    store: Optional[Dict[str, Any]]
    owner: Optional[Dict[str, Any]]
    node: int
    seq: int


@dataclass(frozen=True)
class JobCause:
    """One thing that keeps a job from its start. `code` is stable, such as 'queue-paused' (docs/lifecycle.md); `message` is a sentence without
    its subject. `of` is the key, or the name of the shared limit. `until`: the end of the cause, unless something else happens before; None
    if only a change ends it. `used` is the used part of `limit`; for 'parents', the number of jobs that have not ended."""

    code: str
    message: str
    of: Optional[str]
    until: Optional[datetime]
    used: Optional[int]
    limit: Optional[int]


@dataclass(frozen=True)
class Explanation:
    """Why a job has not ended. `causes` has all that keeps it from its start now, and is empty for a job that runs or has ended. `message` is
    that of the first cause, or what the job does if it waits for nothing."""

    id: str
    name: str
    queue: str
    state: str
    attempt: int
    max_attempts: int
    message: str
    causes: List[JobCause]
    deadline_at: Optional[datetime] = None


@dataclass(frozen=True)
class Throughput:
    """The jobs of a queue in the minute or hour that began `at` this time: how many were enqueued, and how many ended in each state."""

    at: datetime
    enqueued: int
    completed: int
    failed: int
    cancelled: int


@dataclass(frozen=True)
class QueuesHistory:
    """What all queues have done. `total` and each of `queues`, by its name, is a dict of `enqueued`, `completed`, `failed` and `cancelled`,
    each a list: its place 0 is the minute or hour that began at `start`. `queues` has the busiest first. `queues_left_out` are not in
    `total`, which has at most the 1,000 busiest."""

    start: datetime
    step: str
    total: Dict[str, List[int]]
    queues: Dict[str, Dict[str, List[int]]]
    queues_left_out: int


@dataclass(frozen=True)
class FailureKind:
    """Failed runs of one class of error and, but for the parts that differ from job to job, of one message. `fingerprint` is 14 hexadecimal
    digits. `count` is how many runs failed so. `job` and `message` are those of the job that failed last; None once it is gone. `trend` has
    the failed runs of each of the last 24 hours, oldest first; None unless the call asked for it."""

    fingerprint: str
    queue: str
    name: str
    error: str
    count: int
    first_at: datetime
    last_at: datetime
    job: Optional[str]
    message: Optional[str]
    trend: Optional[List[int]]


@dataclass(frozen=True)
class QueueKey:
    """A concurrency key of a queue. `waiting` counts the jobs that the engine has counted: never more than there are. `rate` is a dict of
    `tokens` that are available and `next_at`, as of a queue; None without a per_key_rate_limit."""

    key: str
    waiting: int
    active: int
    paused: bool
    paused_until: Optional[datetime]
    rate: Optional[Dict[str, Any]]


@dataclass(frozen=True)
class QueueKeys:
    """The keys of a queue with the most waiting jobs first. `known` is how many are in memory. `tracked` is False if the queue neither limits
    nor pauses keys: then none is counted. `partial` is True if there are more keys than one answer looks at."""

    keys: List[QueueKey]
    known: int
    tracked: bool
    partial: bool


@dataclass(frozen=True)
class ManyResult:
    """What a bulk call has done, or with `dry_run` would do: jobs that matched, and of them those that changed. `skipped` counts the others by
    reason: a state, 'cancelling', 'uniqueConflict', 'parentFailed' or 'notFound'."""

    matched: int
    changed: int
    skipped: Dict[str, int]


@dataclass(frozen=True)
class PurgeResult:
    """What `purge_queue` has removed, by state and in all (`count`), or with `dry_run` would remove. `active` jobs run: they are left."""

    states: Dict[str, int]
    count: int
    active: int
