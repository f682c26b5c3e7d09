"""The calls of the client for asyncio about queues, workers, figures, and many jobs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable, List, Optional, TypeVar

from . import bulk, changes as ch, operations as op, settings as st
from .filters import JobFilter
from .operations import JOBS_PAGE, LIST_PAGE, Request, Steps
from .options import Seconds, Time
from .settings import QueueSettings
from .views import (
    ExportBatch, ExportInfo, FailureKind, ManyResult, PurgeResult, QueueInfo, QueueKeys, QueuesHistory, Stats, Throughput, WorkerInfo,
)

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

T = TypeVar("T")


class AsyncManaging:
    """What `AsyncClient` has beside the calls about single jobs, flows, schedules and events."""

    # Many jobs at once.

    async def cancel_many(
        self,
        filter: JobFilter,
        reason: Optional[str] = None,
        by: Optional[str] = None,
        *,
        limit: Optional[int] = None,
        dry_run: bool = False,
    ) -> ManyResult:
        """As `Client.cancel_many`."""
        return await self._drive(bulk.cancel_many(filter, reason, by, limit, dry_run))

    async def retry_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """As `Client.retry_many`."""
        return await self._drive(bulk.retry_many(filter, limit, dry_run))

    async def delete_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """As `Client.delete_many`."""
        return await self._drive(bulk.delete_many(filter, limit, dry_run))

    async def run_now_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """As `Client.run_now_many`."""
        return await self._drive(bulk.run_now_many(filter, limit, dry_run))

    async def update_many(
        self,
        filter: JobFilter,
        *,
        run_at: Optional[Time] = None,
        priority: Optional[int] = None,
        weight: Optional[int] = None,
        tags: Optional[Iterable[str]] = None,
        meta: Any = None,
        limit: Optional[int] = None,
        dry_run: bool = False,
    ) -> ManyResult:
        """As `Client.update_many`."""
        return await self._drive(bulk.update_many(filter, run_at, priority, weight, tags, meta, limit, dry_run))

    # Queues.

    async def queue(self, name: str) -> Optional[QueueInfo]:
        """As `Client.queue`."""
        return await self._ask(op.queue(name))

    def queues(self, page: int = LIST_PAGE) -> AsyncIterator[QueueInfo]:
        """As `Client.queues`."""
        return self._list(op.queues(page))

    async def queue_keys(self, queue: str, limit: int = 50) -> Optional[QueueKeys]:
        """As `Client.queue_keys`."""
        return await self._ask(op.queue_keys(queue, limit))

    async def configure_queue(self, queue: str, **settings: Unpack[QueueSettings]) -> None:
        """As `Client.configure_queue`."""
        await self._ask(st.configure_queue(queue, settings))

    async def pause_queue(
        self,
        queue: str,
        *,
        name: Optional[str] = None,
        key: Optional[str] = None,
        duration: Optional[Seconds] = None,
    ) -> None:
        """As `Client.pause_queue`."""
        await self._ask(ch.pause_queue(queue, name, key, duration))

    async def resume_queue(self, queue: str, *, name: Optional[str] = None, key: Optional[str] = None) -> None:
        """As `Client.resume_queue`."""
        await self._ask(ch.resume_queue(queue, name, key))

    async def pause_all(self) -> None:
        """As `Client.pause_all`."""
        await self._ask(ch.pause_all(True))

    async def resume_all(self) -> None:
        """As `Client.resume_all`."""
        await self._ask(ch.pause_all(False))

    async def drain_queue(self, queue: str, timeout: Optional[Seconds] = None) -> None:
        """As `Client.drain_queue`."""
        await self._wait(ch.drain_queue(queue, timeout), "the queue %s was not empty" % (queue,), timeout, again=False)

    async def purge_queue(self, queue: str, states: Optional[Iterable[str]] = None, *, dry_run: bool = False) -> PurgeResult:
        """As `Client.purge_queue`."""
        return await self._drive(bulk.purge_queue(queue, states, dry_run))

    async def delete_queue(self, queue: str) -> bool:
        """As `Client.delete_queue`."""
        return await self._ask(ch.delete_queue(queue))

    # Workers and figures.

    def workers(self, page: int = LIST_PAGE) -> AsyncIterator[WorkerInfo]:
        """As `Client.workers`."""
        return self._list(op.workers(page))

    async def stop_worker(self, worker: str, timeout: Seconds = 30.0) -> None:
        """As `Client.stop_worker`."""
        await self._ask(ch.stop_worker(worker, timeout))

    async def stats(self, names: str = "histograms", definitions: str = "all") -> Stats:
        """Counts by state and queue. `names`: what it has of each job name, 'histograms' (and percentiles), 'percentiles' or 'none'.
        `definitions`: 'all', or those that are 'disputed'."""
        return await self._ask(op.stats(names, definitions))

    async def history(
        self,
        queue: str = "default",
        *,
        step: str = "minute",
        start_at: Optional[Time] = None,
        end_at: Optional[Time] = None,
    ) -> List[Throughput]:
        """What a queue has done in each 'minute' of the last 6 hours, or each 'hour' of the last 14 days (`step`), oldest first. Those in which
        nothing happened are left out. `start_at`: the minute or hour of this time is the first, by default the oldest that is kept; `end_at`:
        that of this time is left out, by default none. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return await self._ask(op.history(queue, step, start_at, end_at))

    async def queues_history(
        self,
        limit: int = 50,
        *,
        step: str = "minute",
        start_at: Optional[Time] = None,
        end_at: Optional[Time] = None,
    ) -> QueuesHistory:
        """What all queues have done, added up, and the busiest of them one by one: `limit`, 0 to 50. Minutes or hours in which nothing happened
        are 0. The others are as of `history`. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return await self._ask(op.queues_history(limit, step, start_at, end_at))

    async def failures(
        self, queue: Optional[str] = None, name: Optional[str] = None, *, limit: int = 50, order: str = "last", trend: bool = False
    ) -> List[FailureKind]:
        """Failed runs grouped by kind, of a queue or a name of job, or all: at most `limit`, 1 to 200. `order`: 'last' returns the kinds seen
        last first, 'count' those with the most failed runs. With `trend` each has its failed runs by the hour. The last 1,000 kinds of 30
        days are kept. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return await self._ask(op.failures(queue, name, limit, order, trend))

    # Exports and backups.

    def export(self, name: str, page: int = JOBS_PAGE) -> AsyncIterator[ExportBatch]:
        """As `Client.export`."""
        return self._follow(op.export(name, page))

    async def exports(self) -> List[ExportInfo]:
        """As `Client.exports`."""
        return await self._ask(op.exports())

    async def delete_export(self, name: str) -> bool:
        """As `Client.delete_export`."""
        return await self._ask(ch.delete_export(name))

    async def backup(self, file: str) -> int:
        """As `Client.backup`."""
        return await self._ask(ch.backup(file))

    # What the client does with a request.

    async def _ask(self, asked: Request[T]) -> T:
        raise NotImplementedError

    def _list(self, pages: op.Pages[T]) -> AsyncIterator[T]:
        raise NotImplementedError

    def _follow(self, pages: op.Pages[T]) -> AsyncIterator[T]:
        raise NotImplementedError

    async def _drive(self, steps: Steps[T]) -> T:
        raise NotImplementedError

    async def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds], again: bool = True) -> T:
        raise NotImplementedError
