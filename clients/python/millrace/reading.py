"""Answers as they are sent, made into those of `views`."""

from __future__ import annotations

import functools
import json
import math
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

from .data import Stored, decode_data, shown
from ._schema import DURATION_MS
from .encoding import FOREVER
from .keys import JobKey
from .views import (
    AttemptInfo, Event, ExportBatch, FailureKind, FlowDependency, FlowInfo, FlowJob, FlowPlace, JobInfo, LastRun, LogLine, QueueInfo, QueueKey,
    QueueKeys, QueuesHistory, ScheduleInfo, ScheduleSet, Stats, Throughput, WorkerInfo,
)

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NEVER = datetime.max.replace(tzinfo=timezone.utc)
Fields = Mapping[str, Any]
Convert = Callable[[Any], Any]
V = TypeVar("V")
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


def view(kind: Type[V], said: Fields, **own: Any) -> V:
    """The view of an answer: its fields by their names and types, but for those that are given."""
    for name, there, convert, is_required in _fields_of(cast(Any, kind)):
        if name not in own:
            value = said[there] if is_required else said.get(there)
            own[name] = value if convert is None else convert(value)
    return kind(**own)


@functools.lru_cache(None)
def _fields_of(kind: Any) -> List[Tuple[str, str, Optional[Convert], bool]]:
    """The name of each field here and in answers, what converts its value, and whether an answer always has it."""
    return [
        (name, camel(name), BY_TYPE.get(type) or BY_NAME.get(name), not type.startswith(("Optional", "Union", "Any")))
        for name, type in kind.__annotations__.items()
    ]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def job_info(said: Fields) -> JobInfo:
    progress, note, value = _progress(said["progress"])
    cancellation = said.get("cancellation") or {}
    flow, last = said.get("flow"), said.get("lastRun")
    return view(
        JobInfo,
        said,
        id=job_id(said),
        progress=progress,
        progress_note=note,
        progress_value=value,
        backoff=_backoff(said["backoff"]),
        tokens=said.get("tokens", 1),
        log_lines=said.get("logLines", 100),
        cancel_reason=cancellation.get("reason"),
        cancelled_by=cancellation.get("by"),
        lost_runs=said.get("lostRuns") or 0,
        flow=flow and FlowPlace(job_id(flow["first"]), flow["ref"], flow["parents"], flow["onParentFailure"]),
        attempts=[view(AttemptInfo, each, logs=[log_line(line) for line in each["logs"]]) for each in said["attempts"]],
        payload_bytes=said.get("bytes"),
        last_run=last and view(LastRun, last),
    )


def _progress(stored: Optional[str]) -> Sequence[Any]:
    said = shown(stored)
    fraction, note, value = [*(said if isinstance(said, list) else []), None, None, None][:3]
    return fraction, note, shown(value)


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
    return view(
        QueueInfo,
        said,
        settings={snake(name): _setting(name, value) for name, value in said["settings"].items()},
        pause_ends=[plain(each) for each in said.get("pauseEnds") or []],
        paused_left_out=said.get("pausedLeftOut") or 0,
        oldest_waiting=said["oldestWaitingMs"] / 1000,
        rate=_rate(said),
    )


def _rate(said: Fields) -> Any:
    rate = said.get("rate")
    return rate and plain(rate)


def _setting(name: str, value: Any) -> Any:
    """As `configure_queue` takes it."""
    if name == "defaults":
        return _converted(value, JOB)
    if name == "retention":
        return {state: FOREVER if keep == KEPT_FOREVER else plain(keep) for state, keep in value.items()}
    return _plain_field(name, value)


def queue_keys(said: Fields) -> QueueKeys:
    keys = [view(QueueKey, each, rate=_rate(each)) for each in said["keys"]]
    return QueueKeys(keys, said["known"], said["tracked"], bool(said.get("partial")))


def throughput(said: Fields) -> Throughput:
    return view(Throughput, said)


def queues_history(said: Fields) -> QueuesHistory:
    queues = {each["name"]: _same(each, *TOTALS) for each in said["queues"]}
    total = _same(said["total"], *TOTALS)
    return QueuesHistory(moment(said["from"]), said["step"], total, queues, said.get("queuesLeftOut") or 0)


def failure_kind(said: Fields) -> FailureKind:
    return view(FailureKind, said, job=said["job"] and job_id(said["job"]))


def worker_info(said: Fields) -> WorkerInfo:
    delay = seconds(said.get("eventLoopDelayMs"))
    return view(WorkerInfo, said, order=said.get("order") or "fair", paused=bool(said.get("paused")), event_loop_delay=delay)


def schedule_info(said: Fields) -> ScheduleInfo:
    last, result = said["last"], said.get("result")
    return view(
        ScheduleInfo,
        said,
        spec=_converted(said["spec"], SPEC),
        job=_converted(said["job"], JOB),
        next_run_at=when(said["fireAt"]),
        next_runs=[moment(each) for each in said["times"]],
        last_run_at=when(said["lastAt"]),
        last_job=last and job_id(last),
        last_result=result and {**result, "output": shown(result["output"])},
        runs=said["fired"],
    )


def schedule_set(said: Fields) -> ScheduleSet:
    return ScheduleSet(said["created"], when(said["fireAt"]), said.get("waitingUpdated"))


def flow_info(said: Fields) -> FlowInfo:
    return view(FlowInfo, said, id=job_id(said))


def flow_job(said: Fields, first: Fields) -> FlowJob:
    """The ids of a flow's jobs differ in their row alone, but for those that a job has joined."""
    depends_on = [FlowDependency(job_id({**first, **each}), each["ref"], each.get("told")) for each in said["dependsOn"]]
    return view(FlowJob, said, id=job_id({**first, "seq": said["seq"]}), depends_on=depends_on)


def export_batch(said: Fields) -> ExportBatch:
    lost = said.get("gap")
    return ExportBatch([job_info(each) for each in said["jobs"]], said["missed"], gap(lost) if lost else None)


def event(said: Fields) -> Event:
    if "jobSeq" in said:
        job: Optional[str] = str(JobKey(said["jobSeq"], said["node"], said["enqueuedAt"]))
    else:
        job = job_id(said["job"]) if said.get("job") else None
    return view(Event, said, job=job, progress=said.get("fraction"))


def gap(said: Fields) -> Event:
    """The cursor behind it is the event before the first that the journal has."""
    return Event(seq=said["resumesAt"] - 1, type="gap", after=said["after"], resumes_at=said["resumesAt"])


def stats(said: Fields) -> Stats:
    left_out = {name: said.get(camel(name)) or 0 for name in ("queues_left_out", "unserved_left_out", "failing_left_out")}
    plainly = {name: plain(said[name]) for name in ("unserved", "failing", "names", "definitions", "writer", "store", "owner")}
    return view(Stats, said, queues={name: plain(counts) for name, counts in said["queues"].items()}, **left_out, **plainly)


# Maps whose properties are converted by their names.

DURATIONS = frozenset("period age timeout heartbeatTimeout delay maxDelay ttl maxAge idempotencyTtl every catchUpWithin".split())
MILLISECONDS = re.compile("Ms(?=[A-Z]|$)")


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


# How fields of views are converted.
BY_TYPE: Dict[str, Convert] = {"datetime": moment, "Optional[datetime]": when}
BY_NAME: Dict[str, Convert] = {
    **dict.fromkeys(("max_age", "timeout", "heartbeat_timeout"), seconds), "keep": _keep,
    **dict.fromkeys(("data", "output", "checkpoint", "meta"), shown),
}
