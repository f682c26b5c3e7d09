"""The questions of the client. The script that writes `client.py` and `async_client.py` makes a method of each function here that has
words of its own."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from ._calls import EVENT_FILTER
from ._options import EventsFilter, HistoryOptions, OtherFilters, Unpack
from ._schema import JOBS_PAGE, LIST_ORDERS, LIST_PAGE, LOGS_PAGE
from .codec import SAFE
from .data import decode_data
from .encoding import Seconds, choice, encoded, flag, job_key, known_options, scalar, trimmed
from .errors import Error, type_error
from .explanations import explanation
from .filters import filter_fields
from .keys import JobId, JobKey, JobOfKey, JobRef
from ._readers import (
    event, export_batch, failure_kind, flow_info, flow_job, gap, job_info, job_steps, log_line, queue_info, queue_keys as read_keys,
    queues_history as read_history, schedule_info, stats as read_stats, throughput, worker_info,
)
from .requests import Feed, Page, Pages, Patient, Request, asked, behind_last, behind_next, or_none
from .views import (
    Event, Explanation, ExportBatch, ExportInfo, FailureKind, FlowInfo, FlowJob, JobInfo, JobSteps, LogLine, QueueInfo, QueueKeys,
    QueuesHistory, ScheduleInfo, Stats, Throughput, WorkerInfo,
)


def result(job: JobId, timeout: Optional[Seconds] = None) -> Patient[Any]:
    """What the job's handler has returned. Raises Error (JOB_FAILED, JOB_CANCELLED), and TimeoutError after `timeout` seconds. The
    details of JOB_FAILED are `attempt` and `error`: the last error's name, message, stack, and if it has them `code` and `cause`."""
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
    `payload`: 'full', or 'none' without data, output and checkpoint."""
    return asked("getByKey" if isinstance(job, JobOfKey) else "get", or_none(job_info), job=job, payload=payload)


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
    """Iterates over the jobs that match all that is given. `state` is one of STATES, or a list of some; `search` is a string
    that they contain. `order`: 'newest' first, by arrival; 'oldest'; 'finished', last finished first, of one final state; 'due',
    soonest first, of scheduled jobs. Jobs that are enqueued meanwhile are left out of the newest first. `payload`: 'full', or 'none'
    without data, output and checkpoint. `last_run`: each job with its last run. `page`: how many are asked for at a time, {list.limit}.
    Times are seconds since 1970, or a datetime.

    {OtherFilters}
    """
    known_options("jobs()", others, OtherFilters.__annotations__)
    filter = filter_fields({"state": state, "queue": queue, "name": name, "tag": tag, **others})
    by = LIST_ORDERS[choice("order", order, LIST_ORDERS)]
    sorted_by, ascending = by if by in ("finished", "due") else None, by == "oldest"
    of = {"payload": payload, "last_run": last_run, "order": sorted_by, "ascending": ascending}
    first = asked("list", _jobs, filter=filter, page=page, search=search, **of)
    return lambda mark: first.behind(None) if mark is None else first.behind(mark[0], **mark[1])


def _jobs(reply: Any) -> Page[JobInfo]:
    after, at = reply["next"], reply.get("nextAt")
    return [job_info(each) for each in reply["jobs"]], None if after is None else (after, {} if at is None else {"before_at": at})


def explain(job: JobId) -> Request[Optional[Explanation]]:
    """Why the job has not ended: each pause, limit, missing worker or other job that keeps it from its start now. None if there is no such
    job."""
    wanted = job_key(job)
    return Request("explain", wanted, read=or_none(lambda said: explanation(str(JobKey(*wanted)), said)))


def logs(job: JobId, run: Optional[int] = None, page: int = LOGS_PAGE, *, order: str = "oldest") -> Pages[LogLine]:
    """Iterates over the log lines of a run of the job, by default the last one, the 'oldest' or the 'newest' first (`order`). There is
    none without such a job. `page`: {logs.limit}."""
    newest = choice("order", order, ("oldest", "newest")) == 1
    return asked("logs", behind_next("lines", log_line), job=job, run=run, page=page, newest=newest).behind


def steps(job: JobId, after: int = 0, limit: int = 100) -> Request[Optional[JobSteps]]:
    """A page of what the durable calls of the job's handler have recorded, with its open waits. None if there is no such job. `after`: the
    `next` of the page before. `limit`: {steps.limit}."""
    return asked("steps", or_none(job_steps), job=job, after=_required("after", after), limit=_required("limit", limit))


def schedule(id: str, times: int = 0) -> Request[Optional[ScheduleInfo]]:
    """The schedule with as many of its next times, {getSchedule.times}, or None."""
    return asked("getSchedule", or_none(schedule_info), id=id, times=times)


def schedules(prefix: str = "", page: int = JOBS_PAGE, *, queue: Optional[str] = None, name: Optional[str] = None) -> Pages[ScheduleInfo]:
    """Iterates over the schedules whose ids begin with `prefix`, in the order of their ids: with `queue` or `name`, only those whose jobs
    go to that queue or have that name. `page`: {listSchedules.limit}."""
    read = behind_next("schedules", schedule_info)
    return asked("listSchedules", read, prefix=prefix, page=page, queue=queue, name=name).behind


def flows(state: Optional[str] = None, page: int = JOBS_PAGE) -> Pages[FlowInfo]:
    """Iterates over the flows, newest first. `state` is one of FLOW_STATES. `page`: {listFlows.limit}."""
    return asked("listFlows", behind_next("flows", flow_info), page=page, state=state).behind


def flow_jobs(job: JobId, page: int = JOBS_PAGE) -> Pages[FlowJob]:
    """Iterates over the jobs of a flow that are kept, each behind all jobs that it waits for. `job` is the flow's id, or any of its jobs.
    There is none without such a job, and if it is in no flow. A job that waits for more than {edgesPerPage} jobs comes again with the rest of
    them. `page`: {getFlow.limit}."""
    return asked("getFlow", _flow_jobs, job=job, page=page).behind


def _flow_jobs(said: Any) -> Page[FlowJob]:
    if said is None:
        return [], None
    after = said["next"]
    return [flow_job(each, said["first"]) for each in said["jobs"]], None if after is None else [after["seq"], after["place"]]


def events(after: Union[int, str] = 0, **filter: Unpack[EventsFilter]) -> Feed[Event]:
    """Iterates over the events behind a cursor, and then over those that come: it waits for them, and goes on after a break. `after` is
    the `seq` of the last event that is known: 0 begins with the oldest that is kept, 'now' with what comes. An event must match every
    one of `types` (docs/events.md), `queue`, `name` and `job` that is given."""
    first = SAFE if after == "now" else scalar("after", after)
    wanted = trimmed(encoded(EVENT_FILTER, filter)) or None
    return lambda mark: Patient("events", first if mark is None else mark, wanted, read=_events)


def _events(reply: Any) -> Page[Event]:
    missing = [gap(reply["gap"])] if reply.get("gap") else []
    return [*missing, *(event(each) for each in reply["events"])], reply["next"]


def export(name: str, page: int = JOBS_PAGE) -> Feed[ExportBatch]:
    """Iterates over the finished jobs after the export's cursor, batch by batch, and then over those that come: it waits for them, and goes on
    after a break. An unknown name begins with the oldest event that is kept. When the iterator is asked for the next batch, the one before
    is confirmed and not told again; jobs that an export has yet to read are kept for it. `page`: jobs in a batch, {export.limit}. Raises
    Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED if the export was deleted, or if there are too many)."""
    wanted, size = scalar("name", name), scalar("page", page)
    # The mark of a page confirms it: the next one is asked for when all of it has been taken.
    return lambda up_to: Patient("export", wanted, size, up_to, read=_exported)


def _exported(said: Any) -> Page[ExportBatch]:
    is_empty = not said["jobs"] and not said["missed"] and not said.get("gap")
    return [] if is_empty else [export_batch(said)], said["next"]


def exports() -> Request[List[ExportInfo]]:
    """All exports, each with the last event that it has confirmed."""
    return asked("exports", lambda said: [ExportInfo(each["name"], each["cursor"], each["behind"]) for each in said])


def queue(name: str) -> Request[Optional[QueueInfo]]:
    """The queue, or None."""
    return asked("queues", lambda found: queue_info(found[0]) if found else None, name=_required("name", name))


def queues(page: int = LIST_PAGE) -> Pages[QueueInfo]:
    """Iterates over the queues in the order of their names. `page`: {queues.limit}."""
    return asked("queues", behind_last(page, "name", queue_info), page=_required("page", page)).behind


def queue_keys(queue: str, limit: int = 50) -> Request[Optional[QueueKeys]]:
    """The concurrency keys of the queue with the most waiting jobs, at most `limit`, {queueKeys.limit}: their waiting and running jobs, their pauses,
    and the tokens of their rate limits. None if there is no such queue."""
    return asked("queueKeys", or_none(read_keys), queue=queue, limit=limit)


def workers(page: int = LIST_PAGE) -> Pages[WorkerInfo]:
    """Iterates over who is attached, in the order in which they first attached. `page`: {workers.limit}."""
    return asked("workers", behind_last(page, "session", worker_info), page=_required("page", page)).behind


def stats(names: str = "histograms", definitions: str = "all") -> Request[Stats]:
    """Counts by state and queue. `names`: what it has of each job name, 'histograms' (and percentiles), 'percentiles' or 'none'.
    `definitions`: 'all', or those that are 'disputed'."""
    return asked("stats", read_stats, names=names, definitions=definitions)


def history(queue: str = "default", **options: Unpack[HistoryOptions]) -> Request[List[Throughput]]:
    """What a queue has done in each 'minute' of the last {historyMinutesMs}, or each 'hour' of the last {historyHoursMs} (`step`), oldest
    first. Those in which nothing happened are left out.

    {HistoryOptions}
    """
    return asked("history", lambda said: [throughput(each) for each in said], queue=queue, **options)


def queues_history(limit: int = 50, **options: Unpack[HistoryOptions]) -> Request[QueuesHistory]:
    """What all queues have done, added up, and the busiest of them one by one: `limit`, {history.busiest}. Minutes or hours in which nothing
    happened are 0. The others are as of `history`."""
    return asked("history", read_history, queue="default", limit=_required("limit", limit), **options)


def failures(
    queue: Optional[str] = None, name: Optional[str] = None, *, limit: int = 50, order: str = "last", trend: bool = False
) -> Request[List[FailureKind]]:
    """Failed runs grouped by kind, of a queue or a name of job, or all: at most `limit`, {failures.limit}. `order`: 'last' returns the kinds seen
    last first, 'count' those with the most failed runs. With `trend` each has its failed runs by the hour. The last {failureGroups}
    kinds of {failuresMs} are kept."""
    by = "hour" if flag("trend", trend) else None
    return asked("failures", lambda said: [failure_kind(each) for each in said], queue=queue, name=name, limit=limit, order=order, trend=by)


def _required(option: str, value: Any) -> Any:
    """Where nil would mean something else to the server."""
    if value is None:
        raise type_error(option, "given, got None")
    return value
