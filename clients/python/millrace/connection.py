"""A connection: greeted when it is made, read by a thread until its end."""

from __future__ import annotations

import os
import queue
import random
import socket
import struct
import threading
import time
from typing import Any, Callable, List, Optional

from .address import dial, token_of
from .errors import ConnectionLost, Error, ProtocolError
from .forks import tell_in_children
from ._schema import DELIVERY, FRAME_BYTES, GOODBYE, GREETING_BYTES, HELLO, PING, PONG, VERSIONS, Delivery, Limits
from .messages import LIBRARY, frame, read_message

BACKOFF_MIN, BACKOFF_MAX = 0.05, 5.0


class Connection:
    """A thread reads it until its end, which is told of once. With `queued` another one sends, so that no event loop waits for a socket."""

    limits: Limits

    def __init__(self, url: str, token: Optional[str], timeout: float = 10.0, queued: bool = False) -> None:
        try:
            self.sock = dial(url, timeout)
        except OSError as error:
            raise ConnectionLost("no server at %s: %s" % (url, error), "CONNECT_FAILED") from error
        tell_in_children(self)
        self.sending = threading.Lock()
        self.queue: Optional[queue.SimpleQueue[Optional[List[bytes]]]] = queue.SimpleQueue() if queued else None
        self.ended = threading.Event()
        self.on_delivery: Callable[[Delivery], None]
        self.on_end: Callable[[ConnectionLost], None]
        self.silence: Optional[float] = None
        try:
            self.hello_sent = time.monotonic()
            intro = [LIBRARY, socket.gethostname(), os.getpid(), ""]
            self.sock.sendall(frame(HELLO, list(VERSIONS), token_of(url, token), intro))
            type, fields = read_message(self._read_frame(GREETING_BYTES), "greeting")
            if type == GOODBYE:
                raise self._goodbye_error(fields)
        except OSError as error:
            self.sock.close()
            raise ConnectionLost("the greeting failed: %s" % error, "CONNECT_FAILED") from error
        except Error:
            self.sock.close()
            raise
        self.limits = fields.limits
        # Reading wakes up for pings; a write that gets nowhere for so long is a connection that does not live.
        self.silence = self.limits.silence_ms / 1000
        self.sock.settimeout(self.limits.ping_ms / 1000)
        self.heard = time.monotonic()

    def start(self, on_delivery: Callable[[Delivery], None], on_end: Callable[[ConnectionLost], None]) -> None:
        self.on_delivery, self.on_end = on_delivery, on_end
        threading.Thread(target=self._read, name="millrace", daemon=True).start()
        if self.queue is not None:
            threading.Thread(target=self._send_queued, args=[self.queue], name="millrace-send", daemon=True).start()

    def send(self, *message: Any) -> None:
        self.write(frame(*message))

    def write(self, *frames: bytes) -> None:
        """Where the connection is gone, the thread that reads tells of its end."""
        if self.queue is not None:
            self.queue.put(list(frames))
        else:
            self._write(frames)

    def close(self) -> None:
        self.send(GOODBYE, "CLOSING", "", 0)
        if self.queue is not None:
            self.queue.put(None)
        else:
            self._shut()

    def forked(self) -> None:
        """Closes the child's copy of the socket, so that the server hears of the parent's end. A shutdown would end the parent's, too."""
        self.sock.close()

    def _write(self, frames: Any) -> None:
        try:
            with self.sending:
                for each in frames:
                    self.sock.sendall(each)
        except OSError:
            self._shut()

    def _send_queued(self, waiting: queue.SimpleQueue[Optional[List[bytes]]]) -> None:
        """Until it is closed, or has ended: then the thread that reads says so by None."""
        while True:
            frames = waiting.get()
            if frames is None:
                return self._shut()
            self._write(frames)

    def _shut(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _read(self) -> None:
        end = ConnectionLost("the connection is gone")
        try:
            while True:
                type, fields = read_message(self._read_frame(FRAME_BYTES), "open")
                if type == DELIVERY:
                    self.on_delivery(fields)
                elif type == PING:
                    self.send(PONG, fields[0])
                elif type == GOODBYE:
                    end = self._goodbye_error(fields)
                    break
        except ProtocolError as error:
            self._write([frame(GOODBYE, error.code, error.message, -1)])
            end = ConnectionLost(error.message, error.code, None)
        except (OSError, ConnectionLost) as error:
            end = ConnectionLost("the connection broke: %s" % error)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            end = ConnectionLost("what came makes no sense: %r" % error, "BAD_FRAME", None)
        finally:
            if self.queue is not None:
                self.queue.put(None)
            self.sock.close()
            self.ended.set()
            self.on_end(end)

    def _read_frame(self, most: int) -> bytes:
        length = struct.unpack(">I", self._read_bytes(4))[0]
        if not 0 < length <= most:
            raise ProtocolError("a frame of %d bytes: at most %d are taken" % (length, most), "FRAME_TOO_LARGE" if length else "BAD_FRAME")
        payload = self._read_bytes(length)
        self.heard = time.monotonic()
        return payload

    def _read_bytes(self, length: int) -> bytes:
        parts = []
        while length > 0:
            try:
                part = self.sock.recv(min(length, 2**18))
            except socket.timeout:
                self._silent()
                continue
            if not part:
                raise ConnectionLost("the other end has closed the connection")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _silent(self) -> None:
        if self.silence is None or time.monotonic() - self.heard >= self.silence:
            raise ConnectionLost("nothing was heard for too long")
        self.send(PING, 0)

    @staticmethod
    def _goodbye_error(fields: List[Any]) -> ConnectionLost:
        code, message, retry_ms = fields[:3]
        return ConnectionLost("%s (%s)" % (message or "the other end said goodbye", code), code, None if retry_ms < 0 else retry_ms / 1000)


def backoff_delay(attempt: int) -> float:
    return random.random() * min(BACKOFF_MAX, BACKOFF_MIN * 2.0 ** min(attempt, 10))
