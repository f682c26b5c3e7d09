"""The client: it puts jobs in and asks about them."""

from __future__ import annotations

import math
import time
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import Any, Iterable, Iterator, List, Optional, Type, TypeVar, Union

from . import operations as op
from .calls import Calls
from .connection import backoff_delay
from .errors import ConnectionLost
from .jobs import NewJob
from .keys import JobKey
from .operations import JOBS_PAGE, LIST_PAGE, Request
from .options import Seconds
from .pages import follow
from .views import Event, FlowInfo, JobInfo, QueueInfo, ScheduleInfo, Stats, WorkerInfo

T = TypeVar("T")
JobId = Union[JobKey, str]


def connect(url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> Client:
    """A client that is connected. `url` is `unix:/path` or `tcp://host:port`; None: MILLRACE_URL, else the own socket of the daemon of
    MILLRACE_FILE, or of millrace.db in this folder. `token`; None: MILLRACE_TOKEN, else over a daemon's own socket the first token beside
    its file. `timeout` is how many seconds it may take. Raises Error (OPTION_TYPE), and ConnectionLost where nobody answers."""
    client = Client(url, token, timeout)
    client._calls.open()
    return client


class Client:
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

    def enqueue(self, name: str, data: Any = None, **options: Any) -> JobKey:
        """The job's key, once it is on disk. For the options see `new_job`. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.enqueue(name, data, options))

    def enqueue_many(self, jobs: Iterable[NewJob]) -> List[JobKey]:
        """All of them or none, at most 10,000: `new_job(...)` each. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.enqueue_many(jobs))

    def result(self, job: JobId, timeout: Optional[Seconds] = None) -> Any:
        """What the job's handler has returned. Raises Error (JOB_FAILED, JOB_CANCELLED), and TimeoutError after `timeout` seconds. The
        details of JOB_FAILED are `attempt` and `error`: the last error's name, message, stack, and if it has them `code` and `cause`."""
        return self._wait(op.result(job), "no result of %s" % (job,), timeout)

    def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds]) -> T:
        """The answer to a question that may take long, also after a break: to ask twice does no harm."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                id, future = self._calls.send(self._calls.open(), asked.op, *asked.fields)
                try:
                    return asked.answer(future.result(None if timeout is None else left))
                except FutureTimeout:
                    raise TimeoutError("%s within %s s" % (what, timeout)) from None
                finally:
                    self._calls.unwatch(id)
            except ConnectionLost as lost:
                if lost.retry_after is None or left == 0:
                    raise
                time.sleep(min(left, max(lost.retry_after, backoff_delay(attempt))))
                attempt += 1

    def get(self, job: JobId) -> Optional[JobInfo]:
        """All there is to know of the job, or None."""
        return self._ask(op.get(job))

    def cancel(self, job: JobId, reason: Optional[str] = None, by: Optional[str] = None) -> str:
        """'cancelled', or 'cancelling' where it runs. The job stores the reason, of up to 1,000 characters, and who cancelled it: by
        default the name of the token. Raises Error (OPTION_RANGE)."""
        return self._ask(op.cancel(job, reason, by))

    def stats(self, names: str = "histograms", definitions: str = "all") -> Stats:
        """Counts by state and queue. `names`: what it has of each job name, "histograms" (and percentiles), "percentiles" or
        "none". `definitions`: "all", or those that are "disputed"."""
        return self._ask(op.stats(names, definitions))

    def workers(self, page: int = LIST_PAGE) -> Iterator[WorkerInfo]:
        """Iterates over who is attached, in the order in which they first attached. `page`: how many are asked for at a time, 1 to 500."""
        return self._list(op.workers(page))

    def queues(self, page: int = LIST_PAGE) -> Iterator[QueueInfo]:
        """Iterates over the queues in the order of their names. `page`: 1 to 500."""
        return self._list(op.queues(page))

    def jobs(
        self,
        state: Optional[str] = None,
        queue: Optional[str] = None,
        name: Optional[str] = None,
        tag: Optional[str] = None,
        search: Optional[str] = None,
        page: int = JOBS_PAGE,
    ) -> Iterator[JobInfo]:
        """Iterates over the jobs, newest first. `state` is one of STATES; `search` occurs in the name, the
        tags, the keys or the data. Jobs that are enqueued meanwhile are left out. `page`: how many are asked for at a time, 1 to 200.
        For further filters and orders use `call("list", filter, ...)`."""
        return self._list(op.jobs(state, queue, name, tag, search, page))

    def schedules(self, prefix: str = "", page: int = JOBS_PAGE) -> Iterator[ScheduleInfo]:
        """Iterates over the schedules whose ids begin with `prefix`, in the order of their ids. `page`: 1 to 200."""
        return self._list(op.schedules(prefix, page))

    def flows(self, state: Optional[str] = None, page: int = JOBS_PAGE) -> Iterator[FlowInfo]:
        """Iterates over the flows, newest first. `state` is one of FLOW_STATES. `page`: how many
        are asked for at a time, 1 to 200."""
        return self._list(op.flows(state, page))

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

    def _follow(self, pages: op.Pages[T]) -> Iterator[T]:
        """Without an end: the page behind the last one comes when there is something in it."""
        return follow(lambda mark: self._wait(pages(mark), "no event", None))

    def call(self, op: str, *fields: Any) -> Any:
        """Any operation of the protocol: its fields in their order, and times in milliseconds. They are not looked at here: the server
        ends the connection, and with it the calls of all threads, for one that the operation does not take."""
        return self._calls.send(self._calls.open(), op, *fields)[1].result()

    def close(self) -> None:
        connection = self._calls.close()
        if connection is not None:
            connection.ended.wait(1)

    def _ask(self, asked: Request[T]) -> T:
        return asked.answer(self.call(asked.op, *asked.fields))

    def _list(self, pages: op.Pages[T]) -> Iterator[T]:
        return follow(lambda mark: self._ask(pages(mark)))
