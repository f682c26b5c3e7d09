"""Calls on one connection: numbered, answered in any order, and refused when the connection ends. What both clients are made of."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, Dict, Optional, Tuple

from .address import url_of
from .connection import Connection
from .errors import ConnectionLost, Error
from .forks import tell_in_children
from ._schema import REQUESTS, Delivery
from .encoding import number
from .messages import read_replies, request, request_frames


class Calls:
    """Threads may share them. One that a break leaves without its answer fails with ConnectionLost; `open` connects again. A process that
    is forked has a connection of its own."""

    def __init__(self, url: Optional[str], token: Optional[str], timeout: float, queued: bool = False) -> None:
        self.url, self.token, self.queued = url_of(url), token, queued
        self.timeout: float = number("timeout", timeout, 0)
        self._last_id = 0
        self._closed = False
        self.forked()
        tell_in_children(self)

    def forked(self) -> None:
        # Held while a connection is made, so that a call on one that is there does not wait for it.
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._connection: Optional[Connection] = None
        self._waiting: Dict[int, Tuple[Connection, Future[Any]]] = {}

    def opened(self) -> Optional[Connection]:
        """The connection that is there. Raises ConnectionLost (CLOSED)."""
        connection = self._connection
        if self._closed:
            raise ConnectionLost("the client was closed", "CLOSED", None)
        return None if connection is None or connection.ended.is_set() else connection

    def open(self) -> Connection:
        """The connection that is there, or a new one. Raises ConnectionLost."""
        with self._opening:
            connection = self.opened()
            if connection is None:
                connection = made = Connection(self.url, self.token, self.timeout, self.queued)
                made.start(self._deliver, lambda end: self._end(made, end))
                with self._lock:
                    self._connection = made
                if self._closed:
                    made.close()
            return connection

    def send(self, connection: Connection, op: str, *fields: Any) -> Tuple[int, Future[Any]]:
        """Raises Error for what cannot be sent."""
        future: Future[Any] = Future()
        with self._lock:
            self._last_id += 1
            id = self._last_id
        frames = request_frames([request(id, op, *fields)], connection.limits.frame_bytes)
        with self._lock:
            # Its end may have been told already.
            if connection.ended.is_set():
                raise ConnectionLost("the connection is gone")
            self._waiting[id] = (connection, future)
        connection.write(*frames)
        return id, future

    def unwatch(self, watch: int) -> None:
        """Of a call that is not answered. The reply to it is nobody's."""
        with self._lock:
            connection, _ = self._waiting.pop(watch, (None, None))
            self._last_id += 1
            id = self._last_id
        if connection is not None:
            connection.send(REQUESTS, [request(id, "unwatch", watch)])

    def close(self) -> Optional[Connection]:
        """The connection that it ends, which may take a moment."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        return connection

    def _deliver(self, delivery: Delivery) -> None:
        for id, value, error in read_replies(delivery.replies):
            with self._lock:
                future = self._waiting.pop(id, (None, None))[1]
            if future is not None:
                resolve(future, value, error)

    def _end(self, connection: Connection, end: ConnectionLost) -> None:
        with self._lock:
            lost = [id for id, (on, _) in self._waiting.items() if on is connection]
            futures = [self._waiting.pop(id)[1] for id in lost]
        for future in futures:
            # One each: a caller may note on its error what was done before.
            resolve(future, None, ConnectionLost(end.message, end.code, end.retry_after))


def resolve(future: Future[Any], value: Any, error: Optional[BaseException]) -> None:
    """An asynchronous call may have been cancelled meanwhile."""
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
