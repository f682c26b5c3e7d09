"""The questions of the client. The script that writes `client.py` and `async_client.py` makes a method of each function here that has
words of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, TypeVar, Union

from ._options import OtherFilters
from ._schema import EVENT_TYPES, FAILURES_ORDERS, FLOW_STATES, HISTORY_STEPS, JOBS_PAGE, LIST_PAGE, LOGS_PAGE, STATS_NAMES
from .codec import SAFE
from .data import decode_data
from .encoding import Seconds, Time, choice, flag, held_key, job_key, known_options, listed, number, scalar, time_ms, trimmed
from .errors import Error, type_error
from .explanations import explanation
from .filters import OTHERS, filter_fields
from .keys import JobId, JobKey, JobOfKey, JobRef
from .pages import Page
from ._readers import (
    event, export_batch, failure_kind, flow_info, flow_job, gap, job_info, log_line, queue_info, queue_keys as read_keys,
    queues_history as read_history, schedule_info, stats as read_stats, throughput, worker_info,
)
from .requests import Feed, Pages, Patient, Request, behind_last, behind_next
from .views import (
    Event, Explanation, ExportBatch, ExportInfo, FailureKind, FlowInfo, FlowJob, JobInfo, LogLine, QueueInfo, QueueKeys, QueuesHistory,
    ScheduleInfo, Stats, Throughput, WorkerInfo,
)

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

DEFINITIONS = ("all", "disputed")
LIST_ORDERS = ("newest", "oldest", "finished", "due")
LOG_ORDERS = ("oldest", "newest")
PAYLOADS = ("full", "none")

T = TypeVar("T")


def result(job: JobId, timeout: Optional[Seconds] = None) -> Patient[Any]:
    """What the job's handler has returned. Raises Error (JOB_FAILED, JOB_CANCELLED), and TimeoutError after `timeout` seconds. The
    details of JOB_FAILED are `attempt` and `error`: the last error's name, message, stack, and if it has them `code` and `cause`."""
    number("timeout", timeout, 0)
    return Patient("watch", job_key(job), read=_output, what="no result of %s" % (job,), timeout=timeout)


def _output(outcome: Dict[str, Any]) -> Any:
    state: str = outcome["state"]
    error: Dict[str, Any] = outcome.get("error") or {}
    if state == "completed":
        return decode_data(outcome["output"])
    if state == "failed":
        raise Error("JOB_FAILED", "%(name)s: %(message)s" % error, {"attempt": outcome["attempt"], "error": error})
    why = ": %(message)s" % error if error else ": %(reason)s" % outcome if "reason" in outcome else ""
    raise Error("JOB_CANCELLED" if state == "cancelled" else "JOB_NOT_FOUND", "the job was %s%s" % (state, why))


def get(job: JobRef, *, payload: str = "full") -> Request[Optional[JobInfo]]:
    """All there is to know of the job, or None. `job` is its key, its id, or a JobOfKey, here and in the calls that change one job.
    `payload`: 'full', or 'none' without data, output and checkpoint. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    op, of = ("getByKey", held_key(job)) if isinstance(job, JobOfKey) else ("get", job_key(job))
    return Request(op, of, *_cut(payload), read=lambda said: None if said is None else job_info(said))


def jobs(
    state: Union[None, str, Sequence[str]] = None,
    queue: Optional[str] = None,
    name: Optional[str] = None,
    tag: Optional[str] = None,
    search: Optional[str] = None,
    page: int = JOBS_PAGE,
    *,
    order: str = "newest",
    payload: str = "full",
    last_run: bool = False,
    **others: Unpack[OtherFilters]
) -> Pages[JobInfo]:
    """Iterates over the jobs that match all that is given. `state` is one of STATES, or a list of some; `search` occurs in the name, the
    tags, the keys or the data. `others` are the filters of docs/search.md: key, schedule, retrying, enqueued_after, enqueued_before,
    finished_after, finished_before, worker, error, fingerprint, data and meta. `order`: 'newest' first, by arrival; 'oldest'; 'finished',
    last finished first, of one final state; 'due', soonest first, of scheduled jobs. Jobs that are enqueued meanwhile are left out of
    the newest first. `payload`: 'full', or 'none' without data, output and checkpoint. `last_run`: each job with its last run. `page`: how
    many are asked for at a time, 1 to 200. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
    known_options("jobs()", others, OTHERS)
    wanted = filter_fields({"state": state, "queue": queue, "name": name, "tag": tag, **others})
    by = LIST_ORDERS[choice("order", order, LIST_ORDERS)]
    place, cut = {"finished": 0, "due": 1}.get(by), [*_cut(payload), None][0]
    fixed = [scalar("page", page), scalar("search", search), cut, flag("last_run", last_run), place]

    def ask(mark: Any) -> Request[Page[JobInfo]]:
        before, before_at = (None, None) if mark is None else mark
        size, *rest = fixed
        return Request("list", *trimmed([wanted, size, before, *rest, before_at, True if by == "oldest" else None]), read=read)

    def read(reply: Any) -> Page[JobInfo]:
        after = reply["next"]
        return [job_info(each) for each in reply["jobs"]], None if after is None else (after, reply.get("nextAt"))

    return ask


def _cut(payload: Any) -> List[int]:
    """The bytes of each payload that are asked for; none for all of them."""
    return [0] if PAYLOADS[choice("payload", payload, PAYLOADS)] == "none" else []


def explain(job: JobId) -> Request[Optional[Explanation]]:
    """Why the job has not ended: each pause, limit, missing worker or other job that keeps it from its start now. None if there is no such
    job. Raises Error (OPTION_TYPE)."""
    wanted = job_key(job)
    return Request("explain", wanted, read=lambda said: explanation(str(JobKey(*wanted)), said))


def logs(job: JobId, run: Optional[int] = None, page: int = LOGS_PAGE, *, order: str = "oldest") -> Pages[LogLine]:
    """Iterates over the log lines of a run of the job, by default the last one, the 'oldest' or the 'newest' first (`order`). There is
    none without such a job. `page`: 1 to 1,000. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    wanted, size = (job_key(job), scalar("run", run)), scalar("page", page)
    newest = [True] if choice("order", order, LOG_ORDERS) else []
    return lambda after: Request("logs", *wanted, after, size, *newest, read=_lines)


def _lines(reply: Any) -> Page[LogLine]:
    return ([], None) if reply is None else ([log_line(each) for each in reply["lines"]], reply["next"])


def schedule(id: str, times: int = 0) -> Request[Optional[ScheduleInfo]]:
    """The schedule with as many of its next times, 0 to 1,000, or None."""
    fields = (scalar("id", id), scalar("times", times))
    return Request("getSchedule", *fields, read=lambda said: None if said is None else schedule_info(said))


def schedules(prefix: str = "", page: int = JOBS_PAGE, *, queue: Optional[str] = None, name: Optional[str] = None) -> Pages[ScheduleInfo]:
    """Iterates over the schedules whose ids begin with `prefix`, in the order of their ids: with `queue` or `name`, only those whose jobs
    go to that queue or have that name. `page`: 1 to 200. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    begins, size, of = scalar("prefix", prefix), scalar("page", page), trimmed([scalar("queue", queue), scalar("name", name)])
    return lambda after: Request("listSchedules", begins, size, after, *of, read=behind_next("schedules", schedule_info))


def flows(state: Optional[str] = None, page: int = JOBS_PAGE) -> Pages[FlowInfo]:
    """Iterates over the flows, newest first. `state` is one of FLOW_STATES. `page`: 1 to 200."""
    place, size = None if state is None else choice("state", state, FLOW_STATES), scalar("page", page)
    return lambda before: Request("listFlows", size, place, before, read=behind_next("flows", flow_info))


def flow_jobs(job: JobId, page: int = JOBS_PAGE) -> Pages[FlowJob]:
    """Iterates over the jobs of a flow that are kept, each behind all jobs that it waits for. `job` is the flow's id, or any of its jobs.
    There is none without such a job, and if it is in no flow. A job that waits for more than 1,000 jobs comes again with the rest of
    them. `page`: 1 to 200. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    wanted, size = job_key(job), scalar("page", page)
    return lambda cursor: Request("getFlow", wanted, size, cursor, read=_flow_jobs)


def _flow_jobs(said: Any) -> Page[FlowJob]:
    if said is None:
        return [], None
    after = said["next"]
    return [flow_job(each, said["first"]) for each in said["jobs"]], None if after is None else [after["seq"], after["place"]]


def events(
    after: Union[int, str] = 0,
    *,
    types: Optional[Iterable[str]] = None,
    queue: Optional[str] = None,
    name: Optional[str] = None,
    job: Optional[JobId] = None,
) -> Feed[Event]:
    """Iterates over the events behind a cursor, and then over those that come: it waits for them, and goes on after a break. `after` is
    the `seq` of the last event that is known: 0 begins with the oldest that is kept, 'now' with what comes. An event must match every
    one of `types` (docs/events.md), `queue`, `name` and `job` that is given. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    first = SAFE if after == "now" else scalar("after", after)
    places = None if types is None else [choice("types", each, EVENT_TYPES) for each in listed("types", types)]
    wanted = trimmed([places, scalar("queue", queue), scalar("name", name), None if job is None else job_key(job)])
    return lambda mark: Patient("events", first if mark is None else mark, wanted or None, read=_events)


def _events(reply: Any) -> Page[Event]:
    missing = [gap(reply["gap"])] if reply.get("gap") else []
    return [*missing, *(event(each) for each in reply["events"])], reply["next"]


def export(name: str, page: int = JOBS_PAGE) -> Feed[ExportBatch]:
    """Iterates over the finished jobs after the export's cursor, batch by batch, and then over those that come: it waits for them, and goes on
    after a break. An unknown name begins with the oldest event that is kept. When the iterator is asked for the next batch, the one before
    is confirmed and not told again; jobs that an export has yet to read are kept for it. `page`: jobs in a batch, 1 to 200. Raises
    Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED if the export was deleted, or if there are too many)."""
    wanted, size = scalar("name", name), scalar("page", page)
    # The mark of a page confirms it: the next one is asked for when all of it has been taken.
    return lambda up_to: Patient("export", wanted, size, up_to, read=_exported)


def _exported(said: Any) -> Page[ExportBatch]:
    is_empty = not said["jobs"] and not said["missed"] and not said.get("gap")
    return [] if is_empty else [export_batch(said)], said["next"]


def exports() -> Request[List[ExportInfo]]:
    """All exports, each with the last event that it has confirmed."""
    return Request("exports", read=lambda said: [ExportInfo(each["name"], each["cursor"], each["behind"]) for each in said])


def queue(name: str) -> Request[Optional[QueueInfo]]:
    """The queue, or None."""
    return Request("queues", _required("name", name), read=lambda found: queue_info(found[0]) if found else None)


def queues(page: int = LIST_PAGE) -> Pages[QueueInfo]:
    """Iterates over the queues in the order of their names. `page`: 1 to 500."""
    size = _required("page", page)
    return lambda after: Request("queues", None, after, size, read=behind_last(size, "name", queue_info))


def queue_keys(queue: str, limit: int = 50) -> Request[Optional[QueueKeys]]:
    """The concurrency keys of the queue with the most waiting jobs, at most `limit`, 1 to 200: their waiting and running jobs, their pauses,
    and the tokens of their rate limits. None if there is no such queue. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    fields = (scalar("queue", queue), scalar("limit", limit))
    return Request("queueKeys", *fields, read=lambda said: None if said is None else read_keys(said))


def workers(page: int = LIST_PAGE) -> Pages[WorkerInfo]:
    """Iterates over who is attached, in the order in which they first attached. `page`: 1 to 500."""
    size = _required("page", page)
    return lambda after: Request("workers", after, size, read=behind_last(size, "session", worker_info))


def stats(names: str = "histograms", definitions: str = "all") -> Request[Stats]:
    """Counts by state and queue. `names`: what it has of each job name, 'histograms' (and percentiles), 'percentiles' or 'none'.
    `definitions`: 'all', or those that are 'disputed'."""
    fields = (choice("names", names, STATS_NAMES), choice("definitions", definitions, DEFINITIONS))
    return Request("stats", *(field or None for field in fields), read=read_stats)


def history(
    queue: str = "default", *, step: str = "minute", start_at: Optional[Time] = None, end_at: Optional[Time] = None
) -> Request[List[Throughput]]:
    """What a queue has done in each 'minute' of the last 6 hours, or each 'hour' of the last 14 days (`step`), oldest first. Those in which
    nothing happened are left out. `start_at`: the minute or hour of this time is the first, by default the oldest that is kept; `end_at`:
    that of this time is left out, by default none. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    fields = _history(queue, step, start_at, end_at)
    return Request("history", *trimmed(fields), read=lambda said: [throughput(each) for each in said])


def queues_history(
    limit: int = 50, *, step: str = "minute", start_at: Optional[Time] = None, end_at: Optional[Time] = None
) -> Request[QueuesHistory]:
    """What all queues have done, added up, and the busiest of them one by one: `limit`, 0 to 50. Minutes or hours in which nothing happened
    are 0. The others are as of `history`. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    return Request("history", *_history("default", step, start_at, end_at), _required("limit", limit), read=read_history)


def _history(queue: Any, step: Any, start_at: Any, end_at: Any) -> List[Any]:
    return [scalar("queue", queue), choice("step", step, HISTORY_STEPS), time_ms("start_at", start_at), time_ms("end_at", end_at)]


def failures(
    queue: Optional[str] = None, name: Optional[str] = None, *, limit: int = 50, order: str = "last", trend: bool = False
) -> Request[List[FailureKind]]:
    """Failed runs grouped by kind, of a queue or a name of job, or all: at most `limit`, 1 to 200. `order`: 'last' returns the kinds seen
    last first, 'count' those with the most failed runs. With `trend` each has its failed runs by the hour. The last 1,000 kinds of 30
    days are kept. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    fields = [scalar("queue", queue), scalar("name", name), scalar("limit", limit)]
    fields += [choice("order", order, FAILURES_ORDERS) or None, 0 if flag("trend", trend) else None]
    return Request("failures", *trimmed(fields), read=lambda said: [failure_kind(each) for each in said])


def _required(option: str, value: Any) -> Any:
    """Where nil would mean something else to the server."""
    if value is None:
        raise type_error(option, "given, got None")
    return scalar(option, value)
