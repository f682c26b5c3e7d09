"""What can be asked of the engine: arguments are held to what it takes here, for the client and for the asynchronous one."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Dict, Generic, Optional, TypeVar, cast

from .codec import SAFE
from .data import decode_data
from .errors import Error, type_error
from .messages import EVENT_TYPES, trimmed
from .options import NAME_LENGTH, choice, given, integer, job_key, key, name as valid_name, number, text
from .pages import Page
from .reading import event, flow_info, gap, job_info, log_line, queue_info, schedule_info, stats as read_stats, worker_info
from .views import Event, FlowInfo, JobInfo, LogLine, QueueInfo, ScheduleInfo, Stats, WorkerInfo

STATES = ("scheduled", "waiting", "active", "blocked", "completed", "failed", "cancelled")
FLOW_STATES = ("running", "completed", "failed", "cancelled")
STATS_NAMES = ("histograms", "percentiles", "none")
DEFINITIONS = ("all", "disputed")
JOBS_PAGE, LIST_PAGE, LOGS_PAGE = 200, 500, 1_000
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
def get(job: Any) -> Request[Optional[JobInfo]]:
    return Request("get", job_key(job), read=lambda said: None if said is None else job_info(said))


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
def jobs(state: Any, queue: Any, name: Any, tag: Any, search: Any, page: int) -> Pages[JobInfo]:
    place = None if state is None else choice("state", state, STATES)
    wanted = trimmed([place, valid_name("queue", queue), valid_name("name", name), key("tag", tag)])
    found, size = key("search", search), _size(page, JOBS_PAGE)
    return lambda before: Request("list", wanted, size, before, found, read=_behind_next("jobs", job_info))


@called
def schedules(prefix: str, page: int) -> Pages[ScheduleInfo]:
    begins, size = text("prefix", given("prefix", prefix), NAME_LENGTH, 0), _size(page, JOBS_PAGE)
    return lambda after: Request("listSchedules", begins, size, after, read=_behind_next("schedules", schedule_info))


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
def logs(job: Any, run: Any, page: Any) -> Pages[LogLine]:
    wanted, size = (job_key(job), integer("run", run, 1, SAFE)), _size(page, LOGS_PAGE)
    return lambda after: Request("logs", *wanted, after, size, read=_lines)


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
