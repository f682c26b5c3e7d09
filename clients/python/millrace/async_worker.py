"""The worker for asyncio: it runs each handler as a task of the event loop. A thread keeps the session and renews its leases, so an event
loop that is busy for a while loses no jobs."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import Future
from typing import Any, AsyncIterator, Awaitable, Callable, Iterable, List, Optional, Union, cast

from ._schema import Grant
from .async_durable import AsyncDurable
from .asynchronous import follow_async
from .calls import resolve
from .durable import StepContext, message_fields, sleep_fields
from .encoding import NewJob, Seconds, Time
from .job import JobContext, Parent, parents_page
from .requests import Page
from .runs import Settlement, raised
from .session import Session

AsyncJobsToJoin = Union[Iterable[NewJob], Callable[[], Union[Iterable[NewJob], Awaitable[Iterable[NewJob]]]]]


class AsyncJob(JobContext):
    """What an asynchronous handler gets: a `Job` whose `join` is a coroutine, and whose `parents` is an asynchronous iterator. When the
    handler is to stop, its task is cancelled; `abort_cause` then says why. `step`, `sleep`, `wait_for` and `changed` are coroutines, too, and many of
    them may be open at a time. The other methods return at once."""

    task: Optional[asyncio.Task[Settlement]] = None

    def _durable_calls(self) -> AsyncDurable:
        self._calls = AsyncDurable(self)
        return self._calls

    async def step(self, name: str, fn: Callable[[StepContext], Any]) -> Any:
        """As `Job.step`. The function may be a coroutine function; it is cancelled with the call, and then leaves no result."""
        return await self._calls.call(name, "step", fn)

    async def sleep(self, name: str, until: Time) -> None:
        """As `Job.sleep`, but the end of the run cancels the task of the handler."""
        await self._calls.call(name, "sleep", None, sleep_fields(until))

    async def wait_for(self, message: str, *, timeout: Optional[Seconds] = None, as_: Optional[str] = None) -> Any:
        """As `Job.wait_for`."""
        return await self._calls.call(message if as_ is None else as_, "message", None, message_fields(message, timeout))

    async def changed(self, name: str) -> bool:
        """As `Job.changed`."""
        return bool(await self._calls.call(name, "change"))

    async def join(self, name: str, jobs: AsyncJobsToJoin) -> AsyncIterator[Parent]:
        """As `Job.join`. The function may be a coroutine function."""
        known = self._known_join(name)
        if known is not None:
            return self._parents(known.place - 1, known.place + known.jobs - 1)
        asked: Any = jobs() if callable(jobs) else jobs
        self._join(name, await asked if inspect.isawaitable(asked) else asked)
        return _none()

    def parents(self) -> AsyncIterator[Parent]:
        """As `Job.parents`."""
        return self._parents(None, None)

    def _parents(self, first: Optional[int], until: Optional[int]) -> AsyncIterator[Parent]:
        async def ask(mark: Any) -> Page[Parent]:
            return parents_page(await asyncio.wrap_future(self._parents_asked(first if mark is None else mark, until)))

        return follow_async(ask)


async def _none() -> AsyncIterator[Parent]:
    nothing: List[Parent] = []
    for parent in nothing:
        yield parent


AsyncHandler = Callable[[AsyncJob], Awaitable[Any]]


class AsyncWorker(Session[AsyncHandler]):
    """Runs coroutine functions, each as a task: a dict of functions of one AsyncJob by name of job. The options are those of `Worker`.
    A handler that is to stop is cancelled: its deadline has passed, its job was cancelled, the worker stops, or the job may be another's.
    Raises Error (OPTION_TYPE, OPTION_RANGE)."""

    _queued = True
    _loop: asyncio.AbstractEventLoop

    async def run(self) -> None:
        """Works until `stop` is called. If its task is cancelled, it stops its handlers, gives their jobs back, and leaves. Raises as
        `Worker.run`."""
        self._loop = asyncio.get_running_loop()
        done: Future[None] = Future()
        threading.Thread(target=self._work_for, args=[done], name="millrace-worker", daemon=True).start()
        ended = asyncio.wrap_future(done)
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            self.stop(0)
            await ended
            raise

    def _work_for(self, done: Future[None]) -> None:
        try:
            self._work()
        except BaseException as error:
            resolve(done, None, error)
        else:
            resolve(done, None, None)

    def _job_of(self, grant: Grant) -> AsyncJob:
        return AsyncJob(self, grant)

    def _begin(self, job: JobContext) -> None:
        self._loop.call_soon_threadsafe(self._start, cast(AsyncJob, job))

    def _start(self, job: AsyncJob) -> None:
        job.task = self._loop.create_task(self._outcome(job))
        job.task.add_done_callback(lambda task: self._ended_by(job, task))
        if job.aborted.is_set():
            job.task.cancel()

    def _tell_aborted(self, job: JobContext) -> None:
        try:
            self._loop.call_soon_threadsafe(_cancel, job)
        except RuntimeError:
            # The loop is closed, and nobody is there who could be told.
            pass

    async def _outcome(self, job: AsyncJob) -> Settlement:
        try:
            output = self._handlers[job.name](job)
            if inspect.isawaitable(output):
                output = await output
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            return raised(job, error)
        return self._returned(job, output)

    def _ended_by(self, job: AsyncJob, task: asyncio.Task[Settlement]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._settle(job, task.result())
        elif self._stopping or not task.cancelled():
            # What ends with its process is no failure of the job.
            self._settle(job, job.ending or ("giveBack", True))
        else:
            self._settle(job, raised(job, asyncio.CancelledError("the task of the handler was cancelled")))


def _cancel(job: JobContext) -> None:
    task = cast(AsyncJob, job).task
    if task is not None:
        task.cancel()
