"""The client for asyncio. Threads read and write its connection, so no call holds up the event loop."""

from __future__ import annotations

import asyncio
import math
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterable, List, Mapping, Optional, Sequence, Type, TypeVar, Union, cast

from . import changes as ch, operations as op
from .async_managing import AsyncManaging
from .calls import Calls
from .changes import UNSET
from .client import FlowNode
from .connection import Connection, backoff_delay
from .errors import ConnectionLost, Error
from .filters import OtherFilters
from .jobs import JobOptions, NewJob
from .keys import JobId, JobKey, JobOfKey, JobRef
from .operations import JOBS_PAGE, LOGS_PAGE, Request, Steps
from .options import Seconds, Time
from .pages import follow_async
from .views import Batch, Event, Explanation, FlowInfo, FlowJob, JobInfo, LogLine, ScheduleInfo, ScheduleSet

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

T = TypeVar("T")


class AsyncClient(AsyncManaging):
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

    async def enqueue(self, name: str, data: Any = None, **options: Unpack[JobOptions]) -> JobKey:
        """As `Client.enqueue`."""
        return await self._ask(ch.enqueue(name, data, options))

    async def enqueue_many(self, jobs: Iterable[NewJob]) -> List[JobKey]:
        """As `Client.enqueue_many`."""
        return await self._ask(ch.enqueue_many(jobs))

    async def flow(
        self,
        nodes: Mapping[str, FlowNode],
        idempotency_key: Optional[str] = None,
        idempotency_ttl: Optional[Seconds] = None,
    ) -> Dict[str, JobKey]:
        """As `Client.flow`."""
        return await self._ask(ch.flow(nodes, idempotency_key, idempotency_ttl))

    async def batch(
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
        """As `Client.batch`."""
        callbacks = {"callback": callback, "on_success": on_success, "on_failure": on_failure, "on_end": on_end}
        return await self._ask(ch.batch(jobs, callbacks, idempotency_key, idempotency_ttl))

    async def result(self, job: JobId, timeout: Optional[Seconds] = None) -> Any:
        """As `Client.result`."""
        return await self._wait(op.result(job, timeout), "no result of %s" % (job,), timeout)

    async def get(self, job: JobRef, *, payload: str = "full") -> Optional[JobInfo]:
        """As `Client.get`."""
        return await self._ask(op.get(job, payload))

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
    ) -> AsyncIterator[JobInfo]:
        """As `Client.jobs`."""
        return self._list(op.jobs(state, queue, name, tag, search, page, order, payload, last_run, others))

    async def explain(self, job: JobId) -> Optional[Explanation]:
        """As `Client.explain`."""
        return await self._ask(op.explain(job))

    def logs(self, job: JobId, run: Optional[int] = None, page: int = LOGS_PAGE, *, order: str = "oldest") -> AsyncIterator[LogLine]:
        """As `Client.logs`."""
        return self._list(op.logs(job, run, page, order))

    async def cancel(self, job: JobRef, reason: Optional[str] = None, by: Optional[str] = None, *, descendants: bool = False) -> str:
        """As `Client.cancel`."""
        return await self._ask(ch.cancel(job, reason, by, descendants))

    async def retry(self, job: JobRef, *, descendants: bool = False) -> None:
        """As `Client.retry`."""
        await self._ask(ch.retry(job, descendants))

    async def run_now(self, job: JobRef) -> None:
        """As `Client.run_now`."""
        await self._ask(ch.run_now(job))

    async def update(
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
        """As `Client.update`."""
        await self._ask(ch.update(job, data, run_at, priority, weight, checkpoint, tags, meta))

    async def delete(self, job: JobRef) -> None:
        """As `Client.delete`."""
        await self._ask(ch.delete(job))

    async def release_key(self, of: JobOfKey) -> bool:
        """As `Client.release_key`."""
        return await self._ask(ch.release_key(of))

    async def redrive(self, queue: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None) -> int:
        """As `Client.redrive`."""
        return await self._drive(ch.redrive(queue, name, limit))

    async def schedule(self, id: str, times: int = 0) -> Optional[ScheduleInfo]:
        """As `Client.schedule`."""
        return await self._ask(op.schedule(id, times))

    def schedules(
        self,
        prefix: str = "",
        page: int = JOBS_PAGE,
        *,
        queue: Optional[str] = None,
        name: Optional[str] = None,
    ) -> AsyncIterator[ScheduleInfo]:
        """As `Client.schedules`."""
        return self._list(op.schedules(prefix, page, queue, name))

    async def upsert_schedule(
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
        """As `Client.upsert_schedule`."""
        return await self._ask(
            ch.upsert_schedule(
                id, job, cron, timezone, every, start_at, end_at, jitter, overlap, catch_up, catch_up_within, max_runs, run_immediately,
                paused, update_waiting, create_only, unchanged_since,
            )
        )

    async def delete_schedule(self, id: str) -> None:
        """As `Client.delete_schedule`."""
        await self._ask(ch.delete_schedule(id))

    async def pause_schedule(self, id: str) -> None:
        """As `Client.pause_schedule`."""
        await self._ask(ch.pause_schedule(id))

    async def resume_schedule(self, id: str) -> None:
        """As `Client.resume_schedule`."""
        await self._ask(ch.resume_schedule(id))

    async def trigger_schedule(self, id: str, meta: Optional[Mapping[str, Any]] = None) -> JobKey:
        """As `Client.trigger_schedule`."""
        return await self._ask(ch.trigger_schedule(id, meta))

    def flows(self, state: Optional[str] = None, page: int = JOBS_PAGE) -> AsyncIterator[FlowInfo]:
        """As `Client.flows`."""
        return self._list(op.flows(state, page))

    def flow_jobs(self, job: JobId, page: int = JOBS_PAGE) -> AsyncIterator[FlowJob]:
        """As `Client.flow_jobs`."""
        return self._list(op.flow_jobs(job, page))

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
        return self._follow(op.events(after, types, queue, name, job))

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

    async def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds], again: bool = True) -> T:
        """The answer to what may take long, with `again` also after a break: to ask twice does no harm."""
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
                if not again or lost.retry_after is None or left == 0:
                    raise
                await asyncio.sleep(min(left, max(lost.retry_after, backoff_delay(attempt))))
                attempt += 1

    def _list(self, pages: op.Pages[T]) -> AsyncIterator[T]:
        return follow_async(lambda mark: self._ask(pages(mark)))

    def _follow(self, pages: op.Pages[T]) -> AsyncIterator[T]:
        """Without an end: the page behind the last one comes when there is something in it."""
        return follow_async(lambda mark: self._wait(pages(mark), "no event", None))

    async def _drive(self, steps: Steps[T]) -> T:
        try:
            asked = next(steps)
            while True:
                try:
                    answer = await self._ask(asked)
                except Error as error:
                    asked = steps.throw(error)
                else:
                    asked = steps.send(answer)
        except StopIteration as end:
            return cast(T, end.value)
