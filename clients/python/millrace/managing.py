"""The calls of the client about queues, workers, figures, and many jobs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Optional, TypeVar

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


class Managing:
    """What `Client` has beside the calls about single jobs, flows, schedules and events."""

    # Many jobs at once.

    def cancel_many(
        self,
        filter: JobFilter,
        reason: Optional[str] = None,
        by: Optional[str] = None,
        *,
        limit: Optional[int] = None,
        dry_run: bool = False,
    ) -> ManyResult:
        """Cancels all jobs that match the filter, newest first: those that have not started at once, running ones by their abort. `filter` is a
        dict (`JobFilter`): give at least one condition, or `{"all": True}` for every job. `reason`: up to 1,000 characters, and `by`: up to
        128, as of `cancel`. `limit`: at most so many jobs change, 1 or more; default all of them. `dry_run` counts, and changes nothing. At
        most 500 jobs change in one commit; of an error in between, `done` says what had changed. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._drive(bulk.cancel_many(filter, reason, by, limit, dry_run))

    def retry_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """Retries all jobs that match the filter and that failed, were cancelled or wait for a retry. `filter`, `limit`, `dry_run` and errors:
        as of `cancel_many`."""
        return self._drive(bulk.retry_many(filter, limit, dry_run))

    def delete_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """Removes all jobs that match the filter, with their logs and keys, idempotency keys included. Running jobs are kept and counted.
        `filter`, `limit`, `dry_run` and errors: as of `cancel_many`."""
        return self._drive(bulk.delete_many(filter, limit, dry_run))

    def run_now_many(self, filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> ManyResult:
        """Makes all scheduled jobs that match the filter due now, also those that wait for a retry. `filter`, `limit`, `dry_run` and errors:
        as of `cancel_many`."""
        return self._drive(bulk.run_now_many(filter, limit, dry_run))

    def update_many(
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
        """Changes all jobs that match the filter: tags and meta, which replace all that a job has, in any state, and `run_at`, `priority`
        (-1,000,000 to 1,000,000) or `weight` (1 to 1,000,000) of those that have not started. What is left out stays as it is. `filter`,
        `limit`, `dry_run` and errors: as of `cancel_many`."""
        return self._drive(bulk.update_many(filter, run_at, priority, weight, tags, meta, limit, dry_run))

    # Queues.

    def queue(self, name: str) -> Optional[QueueInfo]:
        """The queue, or None."""
        return self._ask(op.queue(name))

    def queues(self, page: int = LIST_PAGE) -> Iterator[QueueInfo]:
        """Iterates over the queues in the order of their names. `page`: 1 to 500."""
        return self._list(op.queues(page))

    def queue_keys(self, queue: str, limit: int = 50) -> Optional[QueueKeys]:
        """The concurrency keys of the queue with the most waiting jobs, at most `limit`, 1 to 200: their waiting and running jobs, their pauses,
        and the tokens of their rate limits. None if there is no such queue. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.queue_keys(queue, limit))

    def configure_queue(self, queue: str, **settings: Unpack[QueueSettings]) -> None:
        """Changes the given settings of the queue, which is created by its first use. What is left out stays, and None removes a setting. They
        apply at once, for every worker. docs/limits.md says what each means.

        `concurrency_limit`, `per_key_limit`: 1 to 1,000,000. `shared_limit`: a dict of `name`, `limit`. `rate_limit`, `per_key_rate_limit`: a
        dict of `limit`, `period` (seconds, 1 ms to 365 days, default 1) and `burst` (default `limit`), both 1 to 1,000,000,000. `key_tiers`:
        a dict by name of tier, at most 100, of dicts of `per_key_limit`, `per_key_rate_limit`. `key_order`: 'turns' (default) or 'strict'.
        `max_length`: 1 to 1,000,000,000 jobs that have not started. `on_full`: 'reject' (default) or 'drop-oldest'. `share`: 1 to 1,000,
        default 1. `fairness`: 'none' (default) or 'name'. `dead_letter`: the name of another queue. `repeats`: 'silent' (default) or 'event'.
        `retention`: a dict of `completed`, `failed`, `cancelled`, each seconds, 'forever', or a dict of `age`, `count`. `defaults`: a dict of
        options of `new_job`: priority, weight, tokens, max_attempts, max_lost, max_age, backoff, timeout, heartbeat_timeout, ttl, keep,
        log_lines. What you read as `settings` of a queue is what sets them.

        Raises TypeError for an unknown setting, Error (OPTION_TYPE, OPTION_RANGE; QUEUE_NOT_EMPTY if `key_order` changes while jobs have not
        ended; UNSUPPORTED for settings that exclude each other)."""
        self._ask(st.configure_queue(queue, settings))

    def pause_queue(self, queue: str, *, name: Optional[str] = None, key: Optional[str] = None, duration: Optional[Seconds] = None) -> None:
        """Starts no more jobs of the queue, or only none of one name or one concurrency key in it, until `resume_queue`, or for `duration`, 1 ms
        or more: of two pauses the later end counts. What runs is left alone. Raises Error (QUEUE_NOT_FOUND)."""
        self._ask(ch.pause_queue(queue, name, key, duration))

    def resume_queue(self, queue: str, *, name: Optional[str] = None, key: Optional[str] = None) -> None:
        """Undoes `pause_queue` of the same parts; without parts it also ends `drain_queue`. Raises Error (QUEUE_NOT_FOUND)."""
        self._ask(ch.resume_queue(queue, name, key))

    def pause_all(self) -> None:
        """Starts nothing of any queue, until `resume_all`."""
        self._ask(ch.pause_all(True))

    def resume_all(self) -> None:
        """Undoes `pause_all`, but no queue's own pause."""
        self._ask(ch.pause_all(False))

    def drain_queue(self, queue: str, timeout: Optional[Seconds] = None) -> None:
        """Refuses new jobs of the queue (QUEUE_DRAINING) until `resume_queue`. Returns when none is left that has not ended. Raises Error
        (DRAIN_INCOMPLETE) if it is resumed before, and TimeoutError after `timeout` seconds, 0 or more, by default never: the queue then
        continues to drain, as it does after ConnectionLost, and a further call waits again."""
        self._wait(ch.drain_queue(queue, timeout), "the queue %s was not empty" % (queue,), timeout, again=False)

    def purge_queue(self, queue: str, states: Optional[Iterable[str]] = None, *, dry_run: bool = False) -> PurgeResult:
        """Removes the queue's jobs, at most 500 in one commit: those in `states`, some of 'blocked', 'scheduled', 'waiting', 'completed',
        'failed' and 'cancelled', by default all of these. Running jobs are kept and counted. `dry_run` counts, and removes nothing. Raises
        Error (OPTION_TYPE)."""
        return self._drive(bulk.purge_queue(queue, states, dry_run))

    def delete_queue(self, queue: str) -> bool:
        """Forgets an empty queue: its settings, pauses and counters. False if there was none. Raises Error (QUEUE_NOT_EMPTY)."""
        return self._ask(ch.delete_queue(queue))

    # Workers and figures.

    def workers(self, page: int = LIST_PAGE) -> Iterator[WorkerInfo]:
        """Iterates over who is attached, in the order in which they first attached. `page`: 1 to 500."""
        return self._list(op.workers(page))

    def stop_worker(self, worker: str, timeout: Seconds = 30.0) -> None:
        """Makes every worker with that id, in any process, stop as by its own `stop`: it gets no more jobs, and what runs has `timeout` seconds,
        0 or more, or math.inf. `workers` has it until it has left. Raises Error (WORKER_NOT_FOUND)."""
        self._ask(ch.stop_worker(worker, timeout))

    def stats(self, names: str = "histograms", definitions: str = "all") -> Stats:
        """Counts by state and queue. `names`: what it has of each job name, 'histograms' (and percentiles), 'percentiles' or 'none'.
        `definitions`: 'all', or those that are 'disputed'."""
        return self._ask(op.stats(names, definitions))

    def history(
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
        return self._ask(op.history(queue, step, start_at, end_at))

    def queues_history(
        self,
        limit: int = 50,
        *,
        step: str = "minute",
        start_at: Optional[Time] = None,
        end_at: Optional[Time] = None,
    ) -> QueuesHistory:
        """What all queues have done, added up, and the busiest of them one by one: `limit`, 0 to 50. Minutes or hours in which nothing happened
        are 0. The others are as of `history`. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.queues_history(limit, step, start_at, end_at))

    def failures(
        self, queue: Optional[str] = None, name: Optional[str] = None, *, limit: int = 50, order: str = "last", trend: bool = False
    ) -> List[FailureKind]:
        """Failed runs grouped by kind, of a queue or a name of job, or all: at most `limit`, 1 to 200. `order`: 'last' returns the kinds seen
        last first, 'count' those with the most failed runs. With `trend` each has its failed runs by the hour. The last 1,000 kinds of 30
        days are kept. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._ask(op.failures(queue, name, limit, order, trend))

    # Exports and backups.

    def export(self, name: str, page: int = JOBS_PAGE) -> Iterator[ExportBatch]:
        """Iterates over the finished jobs after the export's cursor, batch by batch, and then over those that come: it waits for them, and goes on
        after a break. An unknown name begins with the oldest event that is kept. When the iterator is asked for the next batch, the one before
        is confirmed and not told again; jobs that an export has yet to read are kept for it. `page`: jobs in a batch, 1 to 200. Raises
        Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED if the export was deleted, or if there are too many)."""
        return self._follow(op.export(name, page))

    def exports(self) -> List[ExportInfo]:
        """All exports, each with the last event that it has confirmed."""
        return self._ask(op.exports())

    def delete_export(self, name: str) -> bool:
        """Keeps nothing for the export any longer; its readers get an error. False if there was none. Raises Error (OPTION_TYPE)."""
        return self._ask(ch.delete_export(name))

    def backup(self, file: str) -> int:
        """Writes a copy of the database to a new file while the engine works on, and returns its bytes. `file` is a path on the server, of up to
        4,096 characters. Raises Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED on Postgres)."""
        return self._ask(ch.backup(file))

    # What the client does with a request.

    def _ask(self, asked: Request[T]) -> T:
        raise NotImplementedError

    def _list(self, pages: op.Pages[T]) -> Iterator[T]:
        raise NotImplementedError

    def _follow(self, pages: op.Pages[T]) -> Iterator[T]:
        raise NotImplementedError

    def _drive(self, steps: Steps[T]) -> T:
        raise NotImplementedError

    def _wait(self, asked: Request[T], what: str, timeout: Optional[Seconds], again: bool = True) -> T:
        raise NotImplementedError
