"""How a client sends its calls and waits for their answers: the base of `AsyncClient`. Threads read and write its connection, so no call
holds up the event loop. `_blocking.py` is made of this file."""

from __future__ import annotations

import asyncio
import math
import time
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Optional, Type, TypeVar, cast

from .calls import Calls
from .connection import backoff_delay
from .encoding import Seconds
from .errors import ConnectionLost, Error
from .requests import Page, Patient, Request, Steps, made, told
from .waiting import arrived_async, closed_async, opened_async

T = TypeVar("T")
Self = TypeVar("Self", bound="Asynchronous")


async def follow_async(ask: Callable[[Any], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """The items of page after page: each is asked for, by the mark of the one before, when that has been read."""
    mark: Any = None
    while True:
        items, mark = await ask(mark)
        for item in items:
            yield item
        if mark is None:
            return


class Asynchronous:
    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> None:
        self._calls = Calls(url, token, timeout, queued=True)

    async def __aenter__(self: Self) -> Self:
        await opened_async(self._calls)
        return self

    async def __aexit__(
        self, type: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def call(self, op: str, *fields: Any) -> Any:
        """Any operation of the protocol: its fields in their order, and times in milliseconds. The server refuses a field that the operation
        does not take, by the names of docs/protocol.md. Raises Error."""
        return await arrived_async(self._calls.send(await opened_async(self._calls), op, *fields)[1], None, op)

    async def close(self) -> None:
        await closed_async(self._calls.close())

    async def _ask(self, make: Callable[..., Request[T]], *args: Any, **options: Any) -> T:
        return await self._answer(make, made(make, make, *args, **options))

    async def _answer(self, make: Callable[..., Any], asked: Request[T]) -> T:
        if isinstance(asked, Patient):
            return cast(T, await self._patiently(make, asked))
        try:
            return asked.answer(await self.call(asked.op, *asked.fields))
        except Error as error:
            raise told(make, asked.op, error)

    async def _patiently(self, make: Callable[..., Any], asked: Patient[T]) -> T:
        until = math.inf if asked.timeout is None else time.monotonic() + asked.timeout
        attempt = 0
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                id, future = self._calls.send(await opened_async(self._calls), asked.op, *asked.fields)
                try:
                    late = "%s within %s s" % (asked.what, asked.timeout)
                    return asked.answer(await arrived_async(future, None if asked.timeout is None else left, late))
                finally:
                    self._calls.unwatch(id)
            except ConnectionLost as lost:
                if not asked.again or lost.retry_after is None or left == 0:
                    raise
                await asyncio.sleep(min(left, max(lost.retry_after, backoff_delay(attempt))))
                attempt += 1
            except Error as error:
                raise told(make, asked.op, error)

    def _list(self, make: Callable[..., Callable[[Any], Request[Page[T]]]], *args: Any, **options: Any) -> AsyncIterator[T]:
        pages = made(make, make, *args, **options)
        return follow_async(lambda mark: self._answer(make, pages(mark)))

    async def _drive(self, make: Callable[..., Steps[T]], *args: Any, **options: Any) -> T:
        steps = made(make, make, *args, **options)
        try:
            asked: Request[Any] = made(make, next, steps)
            while True:
                try:
                    answer = await self._answer(make, asked)
                except Error as error:
                    asked = steps.throw(error)
                else:
                    asked = steps.send(answer)
        except StopIteration as end:
            return cast(T, end.value)
