"""The durable calls of an asynchronous handler: many of them may be open at a time."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, Union

from .durable import Durable
from .order import Call
from .replay import GIVEN_BACK
from .runs import Settlement

if TYPE_CHECKING:
    from .async_worker import AsyncJob

# asyncio does not say when a handler has done all that it does with a result. A task that waits for another one continues two turns of the
# loop after it. So this is enough for tasks within tasks within tasks, whatever else the loop does.
TURNS = 50
_step: contextvars.ContextVar[Tuple[Optional[Durable], Optional[str]]] = contextvars.ContextVar("millrace_step", default=(None, None))


class AsyncDurable(Durable):
    def __init__(self, job: AsyncJob) -> None:
        super().__init__(job)
        self._handler = job
        self._loop: asyncio.AbstractEventLoop
        # Where the calls of steps come from, and the tasks of their functions.
        self._contexts: Dict[Call, contextvars.Context] = {}
        self._tasks: Dict[Call, asyncio.Task[None]] = {}

    async def call(self, name: str, kind: str, fn: Any = None, wait: Any = ()) -> Any:
        """Raises Error (OPTION_TYPE, OPTION_RANGE), StepFailedError; and CancelledError once the run is over."""
        self._loop = asyncio.get_running_loop()
        future = self._loop.create_future()
        call = self._begin(name, kind, future, fn, list(wait))
        if kind == "step" and call not in self._tasks:
            self._contexts[call] = contextvars.copy_context()
        if self.is_dead:
            future.cancel()
        future.add_done_callback(lambda _: self._settled(call))
        return await future

    def _settled(self, call: Call) -> None:
        """A step that the handler has cancelled leaves no result. A wait stays open, as one that has lost a race."""
        if call.future.cancelled() and call in self._tasks:
            self._tasks[call].cancel()
        self._contexts.pop(call, None)
        self.look()

    def _step_of(self) -> Optional[str]:
        durable, name = _step.get()
        return name if durable is self else None

    def _post(self, then: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(then)
        except (AttributeError, RuntimeError):
            # There is no call yet; or the loop is closed, and nobody is there who could be told.
            pass

    def _after_turn(self, then: Callable[[], None], turns: int = TURNS) -> None:
        if turns:
            self._loop.call_soon(self._after_turn, then, turns - 1)
        else:
            then()

    def _timer(self, seconds: float, then: Callable[[], None]) -> Callable[[], None]:
        return self._loop.call_later(seconds, then).cancel

    def _run(self, call: Call) -> None:
        # A call that was held begins in a turn of whatever came last.
        context = self._contexts.pop(call) if call in self._contexts else contextvars.copy_context()
        self._tasks[call] = context.run(lambda: self._loop.create_task(self._work(call)))

    async def _work(self, call: Call) -> None:
        _step.set((self, call.name))
        started_at = self._now()
        try:
            value = call.fn(self._context_of(call))
            if inspect.isawaitable(value):
                value = await value
        except GeneratorExit:
            raise
        except (KeyboardInterrupt, SystemExit):
            # What ends with its process is no failure of the job.
            self.end(GIVEN_BACK)
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and call.is_over:
                self.drop()
            else:
                self._raised(call, started_at, error)
        else:
            self._returned(call, started_at, value)
        finally:
            self._tasks.pop(call, None)

    def _ended(self, reason: Union[str, BaseException]) -> None:
        super()._ended(reason)
        # Its calls stay open until the handler has ended: a call that returned, or raised, would be taken for the end of a wait.
        if self._handler.task is not None:
            self._handler.task.cancel()

    def finish(self, settlement: Settlement) -> None:
        super().finish(settlement)
        for call in self._open.values():
            call.future.cancel()
