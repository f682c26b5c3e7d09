"""Answers as they are sent, made into those of `views`."""

from __future__ import annotations

import functools
import json
import math
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from .data import Stored, decode_data, shown
from .jobs import FOREVER
from .keys import JobKey
from .options import DURATION_MS
from .views import (
    AttemptInfo, Event, ExportBatch, FailureKind, FlowDependency, FlowInfo, FlowJob, FlowPlace, JobInfo, LastRun, LogLine, QueueInfo, QueueKey,
    QueueKeys, QueuesHistory, ScheduleInfo, ScheduleSet, Stats, Throughput, WorkerInfo,
)

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NEVER = datetime.max.replace(tzinfo=timezone.utc)
Fields = Mapping[str, Any]
TOTALS = ("enqueued", "completed", "failed", "cancelled")
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


def seconds(ms: Any) -> Optional[float]:
    """None for no end."""
    return None if ms is None or ms == math.inf else ms / 1000


def job_id(said: Fields) -> str:
    return str(JobKey(said["seq"], said["node"], said["enqueuedAt"]))


def job_info(said: Fields) -> JobInfo:
    progress, note, value = _progress(said["progress"])
    cancellation = said.get("cancellation") or {}
    flow = said.get("flow")
    return JobInfo(
        id=job_id(said),
        data=shown(said["data"]),
        output=shown(said["output"]),
        checkpoint=shown(said["checkpoint"]),
        progress=progress,
        progress_note=note,
        progress_value=value,
        max_lost=said.get("maxLost"),
        max_age=seconds(said.get("maxAge")),
        timeout=seconds(said["timeout"]),
        heartbeat_timeout=seconds(said["heartbeatTimeout"]),
        backoff=_backoff(said["backoff"]),
        tokens=said.get("tokens", 1),
        keep=_keep(said.get("keep")),
        log_lines=said.get("logLines", 100),
        enqueued_at=moment(said["enqueuedAt"]),
        run_at=moment(said["runAt"]),
        **_times(said, "startedAt", "finishedAt", "expiresAt", "originalRunAt", "deadlineAt"),
        cancel_requested=said["cancelRequested"],
        cancel_reason=cancellation.get("reason"),
        cancelled_by=cancellation.get("by"),
        lost_runs=said.get("lostRuns") or 0,
        meta=shown(said["meta"]),
        flow=flow and FlowPlace(job_id(flow["first"]), flow["ref"], flow["parents"], flow["onParentFailure"]),
        attempts=[_attempt(each) for each in said["attempts"]],
        payload_bytes=said.get("bytes"),
        last_run=_last_run(said.get("lastRun")),
        **_same(said, "name", "queue", "state", "run", "attempt", "maxAttempts", "priority", "weight", "tags"),
        **_same(said, "idempotencyKey", "uniqueKey", "concurrencyKey"),
    )


def _last_run(said: Optional[Fields]) -> Optional[LastRun]:
    if said is None:
        return None
    return LastRun(error=said.get("error"), **_same(said, "run", "worker"), **_times(said, "startedAt", "endedAt"))


def _progress(stored: Optional[str]) -> Sequence[Any]:
    said = shown(stored)
    fraction, note, value = [*(said if isinstance(said, list) else []), None, None, None][:3]
    return fraction, note, shown(value)


def _attempt(said: Fields) -> AttemptInfo:
    logs = [log_line(each) for each in said["logs"]]
    return AttemptInfo(
        error=said.get("error"), logs=logs, **_same(said, "run", "attempt", "worker"), **_times(said, "startedAt", "endedAt")
    )


def log_line(said: Fields) -> LogLine:
    return LogLine(moment(said["at"]), said["level"], said["message"], _fields(said.get("fields")), said.get("number"))


def _fields(text: Optional[str]) -> Dict[str, Any]:
    """Those that were cut to their limit are no longer JSON."""
    try:
        fields = {} if text is None else json.loads(text)
    except ValueError:
        fields = None
    return fields if isinstance(fields, dict) else {"truncated": text}


def queue_info(said: Fields) -> QueueInfo:
    rate = said.get("rate")
    return QueueInfo(
        settings={snake(name): _setting(name, value) for name, value in said["settings"].items()},
        paused_until=when(said.get("pausedUntil")),
        pause_ends=[plain(each) for each in said.get("pauseEnds") or []],
        paused_left_out=said.get("pausedLeftOut") or 0,
        retrying=said.get("retrying"),
        oldest_waiting=said["oldestWaitingMs"] / 1000,
        shared_active=said.get("sharedActive"),
        rate=rate and plain(rate),
        **_same(said, "name", "paused", "pausedJobs", "pausedKeys", "states", "totals"),
    )


def _setting(name: str, value: Any) -> Any:
    """As `configure_queue` takes it."""
    if name == "defaults":
        return _converted(value, JOB)
    if name == "retention":
        return {state: FOREVER if keep == KEPT_FOREVER else plain(keep) for state, keep in value.items()}
    return _plain_field(name, value)


def queue_keys(said: Fields) -> QueueKeys:
    keys = [_queue_key(each) for each in said["keys"]]
    return QueueKeys(keys, said["known"], said["tracked"], bool(said.get("partial")))


def _queue_key(said: Fields) -> QueueKey:
    rate = said.get("rate")
    return QueueKey(paused_until=when(said.get("pausedUntil")), rate=rate and plain(rate), **_same(said, "key", "waiting", "active", "paused"))


def throughput(said: Fields) -> Throughput:
    return Throughput(moment(said["at"]), **_same(said, *TOTALS))


def queues_history(said: Fields) -> QueuesHistory:
    queues = {each["name"]: _same(each, *TOTALS) for each in said["queues"]}
    total = _same(said["total"], *TOTALS)
    return QueuesHistory(moment(said["from"]), said["step"], total, queues, said.get("queuesLeftOut") or 0)


def failure_kind(said: Fields) -> FailureKind:
    return FailureKind(
        first_at=moment(said["firstAt"]),
        last_at=moment(said["lastAt"]),
        job=said["job"] and job_id(said["job"]),
        message=said["message"],
        trend=said.get("trend"),
        **_same(said, "fingerprint", "queue", "name", "error", "count"),
    )


def worker_info(said: Fields) -> WorkerInfo:
    return WorkerInfo(
        order=said.get("order") or "fair",
        paused=bool(said.get("paused")),
        kind=said.get("kind"),
        version=said.get("version"),
        event_loop_delay=seconds(said.get("eventLoopDelayMs")),
        rss_bytes=said.get("rssBytes"),
        **_times(said, "attachedAt", "lastSeenAt", "nextDeadlineAt"),
        **_same(said, "id", "session", "host", "pid", "names", "queues", "minConcurrency", "maxConcurrency"),
        **_same(said, "runningJobs", "runningWeight", "zombies", "draining", "away"),
    )


def schedule_info(said: Fields) -> ScheduleInfo:
    last, result = said["last"], said.get("result")
    return ScheduleInfo(
        id=said["id"],
        spec=_converted(said["spec"], SPEC),
        job=_converted(said["job"], JOB),
        paused=said["paused"],
        next_run_at=when(said["fireAt"]),
        next_runs=[moment(each) for each in said["times"]],
        last_run_at=when(said["lastAt"]),
        last_job=last and job_id(last),
        last_result=result and {**result, "output": shown(result["output"])},
        runs=said["fired"],
        skipped=said["skipped"],
        **_times(said, "createdAt", "updatedAt"),
    )


def schedule_set(said: Fields) -> ScheduleSet:
    return ScheduleSet(said["created"], when(said["fireAt"]), said.get("waitingUpdated"))


def flow_info(said: Fields) -> FlowInfo:
    return FlowInfo(id=job_id(said), finished_at=when(said["finishedAt"]), **_same(said, "name", "queue", "state", "states"))


def flow_job(said: Fields, first: Fields) -> FlowJob:
    """The ids of a flow's jobs differ in their row alone, but for those that a job has joined."""
    return FlowJob(
        id=job_id({**first, "seq": said["seq"]}),
        run_at=moment(said["runAt"]),
        depends_on=[FlowDependency(job_id({**first, **each}), each["ref"], each.get("told")) for each in said["dependsOn"]],
        **_times(said, "startedAt", "finishedAt"),
        **_same(said, "ref", "name", "queue", "state", "attempt", "onParentFailure", "parents"),
    )


def export_batch(said: Fields) -> ExportBatch:
    lost = said.get("gap")
    return ExportBatch([job_info(each) for each in said["jobs"]], said["missed"], gap(lost) if lost else None)


def event(said: Fields) -> Event:
    if "jobSeq" in said:
        job: Optional[str] = str(JobKey(said["jobSeq"], said["node"], said["enqueuedAt"]))
    else:
        job = job_id(said["job"]) if said.get("job") else None
    same = _same(said, *(each for each in EVENT_FIELDS if each in said))
    times = _times(said, *(each for each in ("at", "runAt", "tick") if each in said))
    return Event(job=job, progress=said.get("fraction"), **same, **times)


def gap(said: Fields) -> Event:
    """The cursor behind it is the event before the first that the journal has."""
    return Event(seq=said["resumesAt"] - 1, type="gap", after=said["after"], resumes_at=said["resumesAt"])


def stats(said: Fields) -> Stats:
    return Stats(
        queues={name: plain(counts) for name, counts in said["queues"].items()},
        queues_left_out=said.get("queuesLeftOut") or 0,
        unserved_left_out=said.get("unservedLeftOut") or 0,
        failing_left_out=said.get("failingLeftOut") or 0,
        **{name: plain(said[name]) for name in ("unserved", "failing", "names", "definitions", "writer", "store", "owner")},
        **_same(said, "states", "retrying", "totals", "workers", "paused", "node", "seq"),
    )


# Maps whose properties are converted by their names.

EVENT_FIELDS = ("seq", "type", "queue", "name", "run", "attempt", "error", "key", "schedule", "reason", "worker", "session")
DURATIONS = frozenset("period age timeout heartbeatTimeout delay maxDelay ttl maxAge idempotencyTtl every catchUpWithin".split())
MILLISECONDS = re.compile("Ms(?=[A-Z]|$)")
Convert = Callable[[Any], Any]


@functools.lru_cache(1_024)
def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def plain(value: Any) -> Any:
    """Names in small letters, `...At` and `until` as datetimes, durations in seconds: also those that are called `...Ms`."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {snake(MILLISECONDS.sub("", name)): _plain_field(name, each) for name, each in value.items()}


def _plain_field(name: str, value: Any) -> Any:
    if name.endswith("At") or name == "until":
        return when(value)
    if MILLISECONDS.search(name):
        return _scaled(value)
    if name in DURATIONS:
        return seconds(value)
    if name == "keep":
        return _keep(value)
    if name == "backoff":
        return _backoff(value)
    # By names that people have chosen.
    return {each: plain(item) for each, item in value.items()} if name == "keyTiers" else plain(value)


def _scaled(value: Any) -> Any:
    """A number, or the numbers of a timing: all but how many there were of each."""
    if isinstance(value, dict):
        return {name: each if name == "buckets" else _scaled(each) for name, each in value.items()}
    return value / 1000 if isinstance(value, (int, float)) else value


def _backoff(said: Fields) -> Dict[str, Any]:
    return _converted(said, {"delay": seconds, "maxDelay": seconds})


def _keep(ms: Any) -> Union[None, float, str]:
    return FOREVER if ms == DURATION_MS else seconds(ms)


def _endless(ms: float) -> float:
    return ms if ms == math.inf else ms / 1000


def _decoded(stored: Stored) -> Any:
    return decode_data(stored)


SPEC: Dict[str, Convert] = {"every": seconds, "startAt": when, "endAt": when, "jitter": seconds, "catchUpWithin": seconds}
JOB: Dict[str, Convert] = {
    "data": _decoded, "meta": _decoded, "timeout": _endless, "heartbeatTimeout": seconds, "backoff": _backoff, "ttl": seconds,
    "maxAge": seconds, "keep": _keep,
}


def _converted(said: Fields, converts: Mapping[str, Convert]) -> Dict[str, Any]:
    present = {name: value for name, value in said.items() if value is not None}
    return {snake(name): converts[name](value) if name in converts else value for name, value in present.items()}


def _same(said: Fields, *names: str) -> Dict[str, Any]:
    return {snake(name): said[name] for name in names}


def _times(said: Fields, *names: str) -> Dict[str, Any]:
    return {snake(name): when(said.get(name)) for name in names}
