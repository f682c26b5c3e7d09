"""The client for asyncio. Threads read and write its connection, so no call holds up the event loop."""

from __future__ import annotations

import asyncio
import math
import time
from types import TracebackType
from typing import Any, AsyncIterator, Iterable, List, Optional, Type, TypeVar, Union

from . import operations as op
from .calls import Calls
from .client import JobId
from .connection import Connection, backoff_delay
from .errors import ConnectionLost
from .jobs import NewJob
from .keys import JobKey
from .operations import JOBS_PAGE, LIST_PAGE, Request
from .options import Seconds
from .pages import follow_async
from .views import Event, FlowInfo, JobInfo, QueueInfo, ScheduleInfo, Stats, WorkerInfo

T = TypeVar("T")


class AsyncClient:
    """The methods of `Client` as coroutines, and its lists as asynchronous iterators; see there for what each does. Tasks may share one.
    `async with AsyncClient() as client` connects at once, and raises ConnectionLost where nobody answers."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> None:
        self._calls = Calls(url, token, timeout, queued=True)

    async def __aenter__(self) -> AsyncClient:
        await self._opened()
        return self

    async def __aexit__(
        self, type: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def enqueue(self, name: str, data: Any = None, **options: Any) -> JobKey:
        """As `Client.enqueue`."""
        return await self._ask(op.enqueue(name, data, options))

    async def enqueue_many(self, jobs: Iterable[NewJob]) -> List[JobKey]:
        """As `Client.enqueue_many`."""
        return await self._ask(op.enqueue_many(jobs))

    async def result(self, job: JobId, timeout: Optional[Seconds] = None) -> Any:
        """As `Client.result`."""
        return await self._wait(op.result(job), "no result of %s" % (job,), timeout)

    async def get(self, job: JobId) -> Optional[JobInfo]:
        """As `Client.get`."""
        return await self._ask(op.get(job))

    async def cancel(self, job: JobId, reason: Optional[str] = None, by: Optional[str] = None) -> str:
        """As `Client.cancel`."""
        return await self._ask(op.cancel(job, reason, by))

    async def stats(self, names: str = "histograms", definitions: str = "all") -> Stats:
        """As `Client.stats`."""
        return await self._ask(op.stats(names, definitions))

    def workers(self, page: int = LIST_PAGE) -> AsyncIterator[WorkerInfo]:
        """As `Client.workers`."""
        return self._list(op.workers(page))

    def queues(self, page: int = LIST_PAGE) -> AsyncIterator[QueueInfo]:
        """As `Client.queues`."""
        return self._list(op.queues(page))

    def jobs(
        self,
        state: Optional[str] = None,
        queue: Optional[str] = None,
        name: Optional[str] = None,
        tag: Optional[str] = None,
        search: Optional[str] = None,
        page: int = JOBS_PAGE,
    ) -> AsyncIterator[JobInfo]:
        """As `Client.jobs`."""
        return self._list(op.jobs(state, queue, name, tag, search, page))

    def schedules(self, prefix: str = "", page: int = JOBS_PAGE) -> AsyncIterator[ScheduleInfo]:
        """As `Client.schedules`."""
        return self._list(op.schedules(prefix, page))

    def flows(self, state: Optional[str] = None, page: int = JOBS_PAGE) -> AsyncIterator[FlowInfo]:
        """As `Client.flows`."""
        return self._list(op.flows(state, page))

    def events(
        self,
        after: Union[int, str] = 0,
        *,
        types: Optional[Iterable[str]] = None,
        queue: Optional[str] = None,
        name: Optional[str] = None,
        job: Optional[JobId] = None,
    ) -> AsyncIterator[Event]:
        """As `Client.events`."""
        pages = op.events(after, types, queue, name, job)
        return follow_async(lambda mark: self._wait(pages(mark), "no event", None))

    async def call(self, op: str, *fields: Any) -> Any:
        """As `Client.call`."""
        return await asyncio.wrap_future(self._calls.send(await self._opened(), op, *fields)[1])

    async def close(self) -> None:
        connection = self._calls.close()
        if connection is not None:
            await asyncio.get_running_loop().run_in_executor(None, connection.ended.wait, 1)

    async def _opened(self) -> Connection:
        connection = self._calls.opened()
        return connection if connection is not None else await asyncio.get_running_loop().run_in_executor(None, self._calls.open)

    async def _ask(self, asked: Request[T]) -> T:
        return asked.answer(await self.call(asked.op, *asked.fields))

    async def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds]) -> T:
        """The answer to a question that may take long, also after a break: to ask twice does no harm."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                id, future = self._calls.send(await self._opened(), asked.op, *asked.fields)
                try:
                    return asked.answer(await asyncio.wait_for(asyncio.wrap_future(future), None if timeout is None else left))
                except asyncio.TimeoutError:
                    raise TimeoutError("%s within %s s" % (what, timeout)) from None
                finally:
                    self._calls.unwatch(id)
            except ConnectionLost as lost:
                if lost.retry_after is None or left == 0:
                    raise
                await asyncio.sleep(min(left, max(lost.retry_after, backoff_delay(attempt))))
                attempt += 1

    def _list(self, pages: op.Pages[T]) -> AsyncIterator[T]:
        return follow_async(lambda mark: self._ask(pages(mark)))
