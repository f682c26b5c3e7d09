"""What can be asked of the engine: arguments are held to what it takes here, for the client and for the asynchronous one."""

from __future__ import annotations

import functools
import math
import re
from typing import Any, Callable, Dict, Generator, Generic, List, Mapping, Optional, TypeVar, cast

from .codec import SAFE
from .data import decode_data
from .errors import ConnectionLost, Error, type_error
from .explanations import explanation
from .filters import OTHERS, STATES, filter_fields
from .jobs import known_options
from .keys import JobKey, JobOfKey
from .messages import EVENT_TYPES, OPS, trimmed
from .options import NAME_LENGTH, choice, flag, given, held_key, integer, job_key, key, name as valid_name, number, text, time_ms
from .pages import Page
from .reading import (
    event, export_batch, failure_kind, flow_info, flow_job, gap, job_info, log_line, queue_info, queue_keys as read_keys,
    queues_history as read_history, schedule_info, stats as read_stats, throughput, worker_info,
)
from .views import (
    Event, Explanation, ExportBatch, ExportInfo, FailureKind, FlowInfo, FlowJob, JobInfo, LogLine, QueueInfo, QueueKeys, QueuesHistory,
    ScheduleInfo, Stats, Throughput, WorkerInfo,
)

FLOW_STATES = ("running", "completed", "failed", "cancelled")
STATS_NAMES = ("histograms", "percentiles", "none")
DEFINITIONS = ("all", "disputed")
JOBS_PAGE, LIST_PAGE, LOGS_PAGE = 200, 500, 1_000
LIST_ORDERS = ("newest", "oldest", "finished", "due")
LOG_ORDERS = ("oldest", "newest")
PAYLOADS = ("full", "none")
HISTORY_STEPS = ("minute", "hour")
FAILURES_ORDERS = ("last", "count")
HISTORY_QUEUES, FAILURES_MAX, KEYS_MAX = 50, 200, 200
REASON_LENGTH = 1000

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Request(Generic[T]):
    """One call: its operation, its fields, and what its answer means."""

    __slots__ = ("op", "fields", "_read")

    def __init__(self, op: str, *fields: Any, read: Callable[[Any], T]) -> None:
        self.op, self.fields, self._read = op, fields, read

    def answer(self, value: Any) -> T:
        """Raises Error (PROTOCOL) for what an answer to it is not, and what the answer says."""
        try:
            return self._read(value)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise Error("PROTOCOL", "the answer of %s cannot be read: %r" % (self.op, error)) from error


# Several requests, one after the other: each is answered before the next is asked for. It returns what the whole has come to.
Steps = Generator[Request[Any], Any, T]
# Asks for the page behind a mark; None: the first.
Pages = Callable[[Any], Request[Page[T]]]


def called(function: F) -> F:
    """What is wrong with an argument is told by the name of the method, which is that of the function."""

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Error as error:
            raise Error(error.code, "%s(): %s" % (function.__name__, error.message), error.details) from None

    return cast(F, checked)


@called
def result(job: Any, timeout: Any) -> Request[Any]:
    number("timeout", timeout, 0, math.inf)
    return Request("watch", job_key(job), read=_output)


def _output(outcome: Dict[str, Any]) -> Any:
    state: str = outcome["state"]
    error: Dict[str, Any] = outcome.get("error") or {}
    if state == "completed":
        return decode_data(outcome["output"])
    if state == "failed":
        raise Error("JOB_FAILED", "%(name)s: %(message)s" % error, {"attempt": outcome["attempt"], "error": error})
    why = ": %(message)s" % error if error else ": %(reason)s" % outcome if "reason" in outcome else ""
    raise Error("JOB_CANCELLED" if state == "cancelled" else "JOB_NOT_FOUND", "the job was %s%s" % (state, why))


@called
def get(job: Any, payload: Any) -> Request[Optional[JobInfo]]:
    op, of = ("getByKey", held_key(job)) if isinstance(job, JobOfKey) else ("get", job_key(job))
    return Request(op, of, *_cut(payload), read=lambda said: None if said is None else job_info(said))


@called
def stats(names: str, definitions: str) -> Request[Stats]:
    fields = (choice("names", names, STATS_NAMES), choice("definitions", definitions, DEFINITIONS))
    return Request("stats", *(field or None for field in fields), read=read_stats)


@called
def workers(page: int) -> Pages[WorkerInfo]:
    size = _size(page, LIST_PAGE)
    return lambda after: Request("workers", after, size, read=_behind_last(size, "session", worker_info))


@called
def queues(page: int) -> Pages[QueueInfo]:
    size = _size(page, LIST_PAGE)
    return lambda after: Request("queues", None, after, size, read=_behind_last(size, "name", queue_info))


@called
def jobs(
    state: Any, queue: Any, name: Any, tag: Any, search: Any, page: int, order: Any, payload: Any, last_run: Any, others: Mapping[str, Any]
) -> Pages[JobInfo]:
    known_options("jobs()", others, OTHERS)
    wanted = filter_fields({"state": state, "queue": queue, "name": name, "tag": tag, **others})
    found, size, by = key("search", search), _size(page, JOBS_PAGE), LIST_ORDERS[choice("order", order, LIST_ORDERS)]
    place, cut, with_run = {"finished": 0, "due": 1}.get(by), [*_cut(payload), None][0], flag("last_run", last_run)
    one = STATES[wanted[0]] if wanted and wanted[0] is not None else None
    if by == "finished" and one not in STATES[4:]:
        raise type_error("order", "given with a state of completed, failed or cancelled if it is 'finished', got %r" % (state,))
    if by == "due" and one != "scheduled":
        raise type_error("order", "given with the state scheduled if it is 'due', got %r" % (state,))

    def ask(mark: Any) -> Request[Page[JobInfo]]:
        before, before_at = (None, None) if mark is None else mark
        fields = [wanted, size, before, found, cut, with_run, place, before_at, True if by == "oldest" else None]
        return Request("list", *trimmed(fields), read=read)

    def read(reply: Any) -> Page[JobInfo]:
        after = reply["next"]
        return [job_info(each) for each in reply["jobs"]], None if after is None else (after, reply.get("nextAt"))

    return ask


def _cut(payload: Any) -> List[int]:
    """The bytes of each payload that are asked for; none for all of them."""
    return [0] if PAYLOADS[choice("payload", payload, PAYLOADS)] == "none" else []


@called
def flow_jobs(job: Any, page: int) -> Pages[FlowJob]:
    wanted, size = job_key(job), _size(page, JOBS_PAGE)
    return lambda cursor: Request("getFlow", wanted, size, cursor, read=_flow_jobs)


def _flow_jobs(said: Any) -> Page[FlowJob]:
    if said is None:
        return [], None
    after = said["next"]
    return [flow_job(each, said["first"]) for each in said["jobs"]], None if after is None else [after["seq"], after["place"]]


@called
def export(name: Any, page: int) -> Pages[ExportBatch]:
    """The mark of a page confirms it: the next one is asked for when all of it has been taken."""
    wanted, size = valid_name("name", given("name", name)), _size(page, JOBS_PAGE)
    return lambda up_to: Request("export", wanted, size, up_to, read=_exported)


def _exported(said: Any) -> Page[ExportBatch]:
    is_empty = not said["jobs"] and not said["missed"] and not said.get("gap")
    return [] if is_empty else [export_batch(said)], said["next"]


def exports() -> Request[List[ExportInfo]]:
    return Request("exports", read=lambda said: [ExportInfo(each["name"], each["cursor"], each["behind"]) for each in said])


@called
def explain(job: Any) -> Request[Optional[Explanation]]:
    wanted = job_key(job)
    return Request("explain", wanted, read=lambda said: explanation(str(JobKey(*wanted)), said))


@called
def history(queue: Any, step: Any, start_at: Any, end_at: Any) -> Request[List[Throughput]]:
    fields = _history(valid_name("queue", given("queue", queue)), step, start_at, end_at)
    return Request("history", *trimmed(fields), read=lambda said: [throughput(each) for each in said])


@called
def queues_history(limit: Any, step: Any, start_at: Any, end_at: Any) -> Request[QueuesHistory]:
    most = integer("limit", given("limit", limit), 0, HISTORY_QUEUES)
    return Request("history", *_history("default", step, start_at, end_at), most, read=read_history)


def _history(queue: str, step: Any, start_at: Any, end_at: Any) -> List[Any]:
    return [queue, choice("step", step, HISTORY_STEPS), time_ms("start_at", start_at), time_ms("end_at", end_at)]


@called
def failures(queue: Any, name: Any, limit: Any, order: Any, trend: Any) -> Request[List[FailureKind]]:
    fields = [valid_name("queue", queue), valid_name("name", name), integer("limit", given("limit", limit), 1, FAILURES_MAX)]
    fields += [choice("order", order, FAILURES_ORDERS) or None, 0 if flag("trend", trend) else None]
    return Request("failures", *trimmed(fields), read=lambda said: [failure_kind(each) for each in said])


@called
def queue_keys(queue: Any, limit: Any) -> Request[Optional[QueueKeys]]:
    fields = (valid_name("queue", given("queue", queue)), integer("limit", given("limit", limit), 1, KEYS_MAX))
    return Request("queueKeys", *fields, read=lambda said: None if said is None else read_keys(said))


@called
def schedules(prefix: str, page: int, queue: Any, name: Any) -> Pages[ScheduleInfo]:
    begins, size = text("prefix", given("prefix", prefix), NAME_LENGTH, 0), _size(page, JOBS_PAGE)
    of = trimmed([valid_name("queue", queue), valid_name("name", name)])
    return lambda after: Request("listSchedules", begins, size, after, *of, read=_behind_next("schedules", schedule_info))


@called
def flows(state: Any, page: int) -> Pages[FlowInfo]:
    place, size = None if state is None else choice("state", state, FLOW_STATES), _size(page, JOBS_PAGE)
    return lambda before: Request("listFlows", size, place, before, read=_behind_next("flows", flow_info))


@called
def queue(name: Any) -> Request[Optional[QueueInfo]]:
    wanted = valid_name("name", given("name", name))
    return Request("queues", wanted, read=lambda found: queue_info(found[0]) if found else None)


@called
def schedule(id: Any, times: Any) -> Request[Optional[ScheduleInfo]]:
    fields = (valid_name("id", given("id", id)), integer("times", given("times", times), 0, 1_000))
    return Request("getSchedule", *fields, read=lambda said: None if said is None else schedule_info(said))


@called
def logs(job: Any, run: Any, page: Any, order: Any) -> Pages[LogLine]:
    wanted, size = (job_key(job), integer("run", run, 1, SAFE)), _size(page, LOGS_PAGE)
    newest = [True] if choice("order", order, LOG_ORDERS) else []
    return lambda after: Request("logs", *wanted, after, size, *newest, read=_lines)


def _lines(reply: Any) -> Page[LogLine]:
    return ([], None) if reply is None else ([log_line(each) for each in reply["lines"]], reply["next"])


@called
def events(after: Any, types: Any, queue: Any, name: Any, job: Any) -> Pages[Event]:
    """The mark of a page is the cursor behind it; None: the first."""
    first = SAFE if after == "now" else integer("after", given("after", after), 0, SAFE)
    if isinstance(types, str):
        raise type_error("types", "a list of strings, got %r" % types)
    places = None if types is None else [choice("types", each, EVENT_TYPES) for each in types]
    wanted = trimmed([places, valid_name("queue", queue), valid_name("name", name), None if job is None else job_key(job)])
    return lambda mark: Request("events", first if mark is None else mark, wanted or None, read=_events)


def _events(reply: Any) -> Page[Event]:
    missing = [gap(reply["gap"])] if reply.get("gap") else []
    return [*missing, *(event(each) for each in reply["events"])], reply["next"]


def _size(page: Any, most: int) -> int:
    return cast(int, integer("page", given("page", page), 1, most))


def _behind_next(items: str, view: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    return lambda reply: ([view(each) for each in reply[items]], reply.get("next"))


def _behind_last(size: int, mark: str, view: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    """Of an operation whose page goes on behind the last item of the one before."""
    return lambda reply: ([view(each) for each in reply], reply[-1][mark] if len(reply) == size else None)
