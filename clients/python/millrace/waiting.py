"""What waits, for threads and for asyncio. Functions whose names end in `_async` are for code that is written for asyncio, from which the
code for threads is made."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, TimeoutError as FutureTimeout
from typing import Any, Optional

from .calls import Calls
from .connection import Connection


async def opened_async(calls: Calls) -> Connection:
    connection = calls.opened()
    return connection if connection is not None else await asyncio.get_running_loop().run_in_executor(None, calls.open)


def arrived(future: Future[Any], seconds: Optional[float], late: str) -> Any:
    """The answer. Raises TimeoutError after so many seconds; None: never."""
    try:
        return future.result(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
    except FutureTimeout:
        raise TimeoutError(late) from None


async def arrived_async(future: Future[Any], seconds: Optional[float], late: str) -> Any:
    if seconds is None:
        return await asyncio.wrap_future(future)
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
    except asyncio.TimeoutError:
        raise TimeoutError(late) from None


def closed(connection: Optional[Connection]) -> None:
    if connection is not None:
        connection.ended.wait(1)


async def closed_async(connection: Optional[Connection]) -> None:
    await asyncio.get_running_loop().run_in_executor(None, closed, connection)
