"""The client: it puts jobs in and asks about them."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

from . import changes as ch, operations as op
from .calls import Calls
from .changes import UNSET
from .connection import backoff_delay
from .errors import ConnectionLost, Error
from .filters import OtherFilters
from .jobs import JobOptions, NewJob
from .keys import JobId, JobKey, JobOfKey, JobRef
from .managing import Managing
from .operations import JOBS_PAGE, LOGS_PAGE, Request, Steps
from .options import Seconds, Time
from .pages import follow
from .views import Batch, Event, Explanation, FlowInfo, FlowJob, JobInfo, LogLine, ScheduleInfo, ScheduleSet

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

T = TypeVar("T")
FlowNode = Union[NewJob, Tuple[NewJob, Sequence[str]], Tuple[NewJob, Sequence[str], str]]


def connect(url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> Client:
    """A client that is connected. `url` is `unix:/path` or `tcp://host:port`; None: MILLRACE_URL, else the own socket of the daemon of
    MILLRACE_FILE, or of millrace.db in this folder. `token`; None: MILLRACE_TOKEN, else over a daemon's own socket the first token beside
    its file. `timeout` is how many seconds it may take, at most a day. Raises Error (OPTION_TYPE), and ConnectionLost where nobody answers."""
    client = Client(url, token, timeout)
    client._calls.open()
    return client


class Client(Managing):
    """Puts jobs in and asks about them. Threads may share one. A call that a break leaves without its answer raises ConnectionLost;
    the next call connects again. `url`, `token` and `timeout` are as of `connect`."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> None:
        self._calls = Calls(url, token, timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, type: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        self.close()

    def enqueue(self, name: str, data: Any = None, **options: Unpack[JobOptions]) -> JobKey:
        """The job's key, once it is on disk. For the options see `new_job`. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(ch.enqueue(name, data, options))

    def enqueue_many(self, jobs: Iterable[NewJob]) -> List[JobKey]:
        """All of them or none, at most 10,000: `new_job(...)` each. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(ch.enqueue_many(jobs))

    def flow(
        self,
        nodes: Mapping[str, FlowNode],
        idempotency_key: Optional[str] = None,
        idempotency_ttl: Optional[Seconds] = None,
    ) -> Dict[str, JobKey]:
        """Jobs that wait for one another, all or none: a dict by ref of `new_job(...)`, or of a tuple of it, the refs that it waits for,
        and if it is not 'fail' what happens to it when one of those fails: 'continue', 'ignore', 'cancel' or 'run'. Each stands behind
        those that it waits for. Returns their keys by ref."""
        return self._ask(ch.flow(nodes, idempotency_key, idempotency_ttl))

    def batch(
        self,
        jobs: Iterable[NewJob],
        callback: Optional[NewJob] = None,
        *,
        on_success: Optional[NewJob] = None,
        on_failure: Optional[NewJob] = None,
        on_end: Optional[NewJob] = None,
        idempotency_key: Optional[str] = None,
        idempotency_ttl: Optional[Seconds] = None,
    ) -> Batch:
        """Jobs, and callbacks that run by how these end, all or none: at most 10,000 in all, `new_job(...)` each, without keys. `callback` and
        `on_end` run when all have ended in any state. `on_success` runs if all have completed, and is cancelled if one does not. `on_failure`
        runs at the first one that fails, is cancelled or is deleted; if all complete, it leaves no trace. Give `callback` alone, or one or more of the others. A
        callback reads how the jobs have ended with `job.parents()`. `idempotency_key`: a repeat is answered with the first batch. Raises
        Error (OPTION_TYPE, OPTION_RANGE)."""
        callbacks = {"callback": callback, "on_success": on_success, "on_failure": on_failure, "on_end": on_end}
        return self._ask(ch.batch(jobs, callbacks, idempotency_key, idempotency_ttl))

    def result(self, job: JobId, timeout: Optional[Seconds] = None) -> Any:
        """What the job's handler has returned. Raises Error (JOB_FAILED, JOB_CANCELLED), and TimeoutError after `timeout` seconds. The
        details of JOB_FAILED are `attempt` and `error`: the last error's name, message, stack, and if it has them `code` and `cause`."""
        return self._wait(op.result(job, timeout), "no result of %s" % (job,), timeout)

    def get(self, job: JobRef, *, payload: str = "full") -> Optional[JobInfo]:
        """All there is to know of the job, or None. `job` is its key, its id, or a JobOfKey, here and in the calls that change one job.
        `payload`: 'full', or 'none' without data, output and checkpoint. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.get(job, payload))

    def jobs(
        self,
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
        **others: Unpack[OtherFilters],
    ) -> Iterator[JobInfo]:
        """Iterates over the jobs that match all that is given. `state` is one of STATES, or a list of some; `search` occurs in the name, the
        tags, the keys or the data. `others` are the filters of docs/search.md: key, schedule, retrying, enqueued_after, enqueued_before,
        finished_after, finished_before, worker, error, fingerprint, data and meta. `order`: 'newest' first, by arrival; 'oldest'; 'finished',
        last finished first, of one final state; 'due', soonest first, of scheduled jobs. Jobs that are enqueued meanwhile are left out of
        the newest first. `payload`: 'full', or 'none' without data, output and checkpoint. `last_run`: each job with its last run. `page`: how
        many are asked for at a time, 1 to 200. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._list(op.jobs(state, queue, name, tag, search, page, order, payload, last_run, others))

    def explain(self, job: JobId) -> Optional[Explanation]:
        """Why the job has not ended: each pause, limit, missing worker or other job that keeps it from its start now. None if there is no such
        job. Raises Error (OPTION_TYPE)."""
        return self._ask(op.explain(job))

    def logs(self, job: JobId, run: Optional[int] = None, page: int = LOGS_PAGE, *, order: str = "oldest") -> Iterator[LogLine]:
        """Iterates over the log lines of a run of the job, by default the last one, the 'oldest' or the 'newest' first (`order`). There is
        none without such a job. `page`: 1 to 1,000. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._list(op.logs(job, run, page, order))

    def cancel(self, job: JobRef, reason: Optional[str] = None, by: Optional[str] = None, *, descendants: bool = False) -> str:
        """'cancelled', or 'cancelling' where it runs. The job stores the reason, of up to 1,000 characters, and who cancelled it, of up
        to 128: by default the name of the token. With `descendants` also all jobs of its flow that wait for it: then the answer may be
        'finished'. Raises Error (JOB_FINISHED, JOB_NOT_FOUND, OPTION_RANGE)."""
        return self._ask(ch.cancel(job, reason, by, descendants))

    def retry(self, job: JobRef, *, descendants: bool = False) -> None:
        """Runs a failed or cancelled job again from its first attempt, and one that waits for its retry at once. With `descendants` also
        all jobs of its flow that wait for it. Raises Error (JOB_NOT_FOUND, JOB_SCHEDULED, PARENT_FAILED)."""
        self._ask(ch.retry(job, descendants))

    def run_now(self, job: JobRef) -> None:
        """Makes a scheduled job due now. Raises Error (JOB_NOT_FOUND, JOB_FINISHED)."""
        self._ask(ch.run_now(job))

    def update(
        self,
        job: JobRef,
        *,
        data: Any = UNSET,
        run_at: Optional[Time] = None,
        priority: Optional[int] = None,
        weight: Optional[int] = None,
        checkpoint: Any = UNSET,
        tags: Optional[Iterable[str]] = None,
        meta: Any = None,
    ) -> None:
        """Changes a job that has not started: what is left out stays as it is. `tags` and `meta` replace all that it has. Raises Error
        (JOB_ACTIVE, JOB_FINISHED, JOB_NOT_FOUND, OPTION_TYPE, OPTION_RANGE)."""
        self._ask(ch.update(job, data, run_at, priority, weight, checkpoint, tags, meta))

    def delete(self, job: JobRef) -> None:
        """Removes a job that is not running, and what belongs to it. Raises Error (JOB_ACTIVE, JOB_NOT_FOUND)."""
        self._ask(ch.delete(job))

    def release_key(self, of: JobOfKey) -> bool:
        """Takes a key from the job that holds it, so that another call may use it. The job continues, and is not found by the key any more.
        False if no job holds the key. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(ch.release_key(of))

    def redrive(self, queue: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None) -> int:
        """Retries failed jobs, the oldest failure first, slice by slice: of a queue or a name, or all. Returns how many, at most `limit`.
        Jobs that fail again meanwhile are left alone."""
        return self._drive(ch.redrive(queue, name, limit))

    def schedule(self, id: str, times: int = 0) -> Optional[ScheduleInfo]:
        """The schedule with as many of its next times, 0 to 1,000, or None."""
        return self._ask(op.schedule(id, times))

    def schedules(
        self,
        prefix: str = "",
        page: int = JOBS_PAGE,
        *,
        queue: Optional[str] = None,
        name: Optional[str] = None,
    ) -> Iterator[ScheduleInfo]:
        """Iterates over the schedules whose ids begin with `prefix`, in the order of their ids: with `queue` or `name`, only those whose jobs
        go to that queue or have that name. `page`: 1 to 200. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._list(op.schedules(prefix, page, queue, name))

    def upsert_schedule(
        self,
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
    ) -> ScheduleSet:
        """Creates the schedule, or changes it: one whose ticks stay the same keeps its next, so you can call this at each start. `job` is
        `new_job(...)` without keys, delay and run_at. Give `cron`, with `timezone`, or `every`, of at least 1 s. `overlap`: 'skip',
        'queue', 'cancel' or 'allow'; `catch_up`: 'latest', 'all' or 'none'; `jitter`: up to 86,400 s; docs/schedules.md says what each
        means. With `create_only`, one that is there is refused (SCHEDULE_EXISTS); with `unchanged_since`, the `updated_at` that you have
        read, one that was changed since (SCHEDULE_CHANGED). Raises Error (INVALID_SCHEDULE, OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(
            ch.upsert_schedule(
                id, job, cron, timezone, every, start_at, end_at, jitter, overlap, catch_up, catch_up_within, max_runs, run_immediately,
                paused, update_waiting, create_only, unchanged_since,
            )
        )

    def delete_schedule(self, id: str) -> None:
        """Removes the schedule, and its last job if that has not started. Raises Error (SCHEDULE_NOT_FOUND), as all below."""
        self._ask(ch.delete_schedule(id))

    def pause_schedule(self, id: str) -> None:
        """No tick fires until `resume_schedule`."""
        self._ask(ch.pause_schedule(id))

    def resume_schedule(self, id: str) -> None:
        """Resumes with the first tick from now: none is caught up."""
        self._ask(ch.resume_schedule(id))

    def trigger_schedule(self, id: str, meta: Optional[Mapping[str, Any]] = None) -> JobKey:
        """Enqueues the schedule's job now, with `meta` over that of the job, and returns its key."""
        return self._ask(ch.trigger_schedule(id, meta))

    def flows(self, state: Optional[str] = None, page: int = JOBS_PAGE) -> Iterator[FlowInfo]:
        """Iterates over the flows, newest first. `state` is one of FLOW_STATES. `page`: 1 to 200."""
        return self._list(op.flows(state, page))

    def flow_jobs(self, job: JobId, page: int = JOBS_PAGE) -> Iterator[FlowJob]:
        """Iterates over the jobs of a flow that are kept, each behind all jobs that it waits for. `job` is the flow's id, or any of its jobs.
        There is none without such a job, and if it is in no flow. A job that waits for more than 1,000 jobs comes again with the rest of
        them. `page`: 1 to 200. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._list(op.flow_jobs(job, page))

    def events(
        self,
        after: Union[int, str] = 0,
        *,
        types: Optional[Iterable[str]] = None,
        queue: Optional[str] = None,
        name: Optional[str] = None,
        job: Optional[JobId] = None,
    ) -> Iterator[Event]:
        """Iterates over the events behind a cursor, and then over those that come: it waits for them, and goes on after a break. `after` is
        the `seq` of the last event that is known: 0 begins with the oldest that is kept, 'now' with what comes. An event must match every
        one of `types` (docs/events.md), `queue`, `name` and `job` that is given. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._follow(op.events(after, types, queue, name, job))

    def call(self, op: str, *fields: Any) -> Any:
        """Any operation of the protocol: its fields in their order, and times in milliseconds. They are not looked at here: the server
        ends the connection, and with it the calls of all threads, for one that the operation does not take."""
        return self._calls.send(self._calls.open(), op, *fields)[1].result()

    def close(self) -> None:
        connection = self._calls.close()
        if connection is not None:
            connection.ended.wait(1)

    def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds], again: bool = True) -> T:
        """The answer to what may take long, with `again` also after a break: to ask twice does no harm."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                id, future = self._calls.send(self._calls.open(), asked.op, *asked.fields)
                try:
                    return asked.answer(future.result(None if timeout is None else min(left, threading.TIMEOUT_MAX)))
                except FutureTimeout:
                    raise TimeoutError("%s within %s s" % (what, timeout)) from None
                finally:
                    self._calls.unwatch(id)
            except ConnectionLost as lost:
                if not again or lost.retry_after is None or left == 0:
                    raise
                time.sleep(min(left, max(lost.retry_after, backoff_delay(attempt))))
                attempt += 1

    def _ask(self, asked: Request[T]) -> T:
        return asked.answer(self.call(asked.op, *asked.fields))

    def _list(self, pages: op.Pages[T]) -> Iterator[T]:
        return follow(lambda mark: self._ask(pages(mark)))

    def _follow(self, pages: op.Pages[T]) -> Iterator[T]:
        """Without an end: the page behind the last one comes when there is something in it."""
        return follow(lambda mark: self._wait(pages(mark), "no event", None))

    def _drive(self, steps: Steps[T]) -> T:
        try:
            asked = next(steps)
            while True:
                try:
                    answer = self._ask(asked)
                except Error as error:
                    asked = steps.throw(error)
                else:
                    asked = steps.send(answer)
        except StopIteration as end:
            return cast(T, end.value)
