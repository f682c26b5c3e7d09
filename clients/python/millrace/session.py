"""The session of a worker: what it holds, when its leases end, and what is said on a connection. How handlers run is not known here."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
import uuid
from concurrent.futures import Future
from typing import Any, Dict, Generic, Iterable, List, Mapping, Optional, Tuple, TypeVar

from ._schema import (
    ABORT, ABORT_CAUSES, LOST, MESSAGED, QUEUE_ORDERS, REATTACH, RETRYABLE, STOP, TEXT_LENGTH, Attached, Delivery, Grant, Limits,
)
from .address import url_of
from .calls import resolve
from .codec import utf8
from .connection import Connection, backoff_delay
from .data import Stored, encode_data
from .encoding import Seconds, choice, mapping, milliseconds, number, texts, trimmed
from .errors import ConnectionLost, Error, in_python, range_error, type_error
from .failures import failure
from .forks import tell_in_children
from .job import JobContext
from .messages import read_replies, request, request_frames
from .replay import ASLEEP
from .runs import (
    HOPELESS, LEASE, MARGIN, OVER, RENEW_MAX, RENEW_MIN, SAY_AGAIN, Run, Said, Settlement, defaults_of, handlers_of, stale,
    too_large,
)

Handler = TypeVar("Handler")


class Session(Generic[Handler]):
    """`_job_of`, `_begin` and `_tell_aborted` say how a handler runs; `_settle` is told how it has ended."""

    _queued = False

    def __init__(
        self,
        url: Optional[str],
        handlers: Mapping[str, Handler],
        *,
        concurrency: int = 4,
        min_concurrency: Optional[int] = None,
        queues: Optional[Iterable[str]] = None,
        order: str = "fair",
        token: Optional[str] = None,
        name: Optional[str] = None,
        abort_grace: Seconds = 30.0,
        defaults: Optional[Mapping[str, Mapping[str, Any]]] = None
    ) -> None:
        self._url, self._token = url_of(url), token
        self._handlers: Dict[str, Handler] = handlers_of(handlers)
        said = {} if defaults is None else mapping("defaults", defaults, self._handlers)
        self._served = [trimmed([each, defaults_of(each, said.get(each, {}))]) for each in self._handlers]
        self._queues = texts("queues", queues) or None
        self._order = choice("order", order, QUEUE_ORDERS)
        if self._order and not self._queues:
            raise type_error("order", "'fair' without queues: 'strict' is the order of those, the most urgent first")
        self._max = number("concurrency", concurrency)
        self._min = self._max if min_concurrency is None else number("min_concurrency", min_concurrency)
        if self._min > self._max:
            raise range_error("min_concurrency", self._max, "at most concurrency (%r), got %r" % (self._max, self._min))
        self._grace_ms: int = milliseconds("abort_grace", number("abort_grace", abort_grace, 0))
        self._grace = self._grace_ms / 1000
        self._named = str(name) if name else None
        self.forked()
        tell_in_children(self)

    def forked(self) -> None:
        """A session that holds nothing, and is no other's: two processes with one would take each other's jobs."""
        self.uuid = str(uuid.uuid4())
        self.name = self._named or "python-%s" % str(uuid.uuid4())[:8]
        # Everything below is looked at and changed under this lock, and what changes wakes up the thread of `_work`.
        self._changed = threading.Condition(threading.RLock())
        self._connection: Optional[Connection] = None
        self._limits: Limits
        self._runs: Dict[Tuple[int, int], Run] = {}
        self._unanswered: Dict[int, Run] = {}
        self._stopping, self._stop_timeout, self._stop_until = False, 30.0, 0.0
        self._end: Optional[ConnectionLost] = None
        self._last_id, self._renewals, self._renewed = 0, 0, 0.0
        self._attaching: Optional[int] = None
        self._sent: List[Tuple[int, float]] = []
        # When the last renewal that the engine has counted was sent; None before the first attach is answered.
        self._known: Optional[float] = None
        self._shortest = LEASE

    def _job_of(self, grant: Grant) -> JobContext:
        raise NotImplementedError

    def _begin(self, job: JobContext) -> None:
        """Raises RuntimeError if the process has no room for another."""
        raise NotImplementedError

    def _tell_aborted(self, job: JobContext) -> None:
        pass

    def stop(self, timeout: Seconds = 30.0) -> None:
        """Takes no more jobs, lets what runs finish for so many seconds, and gives the rest back. From any thread, or a signal handler."""
        self._stop_timeout = number("timeout", timeout, 0)
        self._stop_until = time.monotonic() + timeout + self._grace
        self._stopping = True
        # A signal handler may not wait for the lock.
        threading.Thread(target=self._wake, daemon=True).start()

    def _wake(self) -> None:
        with self._changed:
            for run in self._runs.values():
                run.job._durable.stop()
            self._changed.notify_all()

    def _work(self) -> None:
        attempt = 0
        try:
            while not self._stopping or (self._runs and time.monotonic() < self._stop_until):
                try:
                    self._attach_to(Connection(self._url, self._token, queued=self._queued))
                    end = self._serve()
                    if self._connection is not None:
                        self._connection.close()
                    if end is None:
                        break
                    # It was good for a while: the next attempts are first ones.
                    attempt = 0 if self._attaching is None else attempt
                except ConnectionLost as error:
                    end = error
                if end.retry_after is None:
                    self._disown_all()
                    raise end
                self._wait(max(end.retry_after, backoff_delay(attempt)))
                attempt += 1
        finally:
            self._disown_all()
            connection = self._connection
            if connection is not None:
                connection.close()

    # The connection.

    def _attach_to(self, connection: Connection) -> None:
        with self._changed:
            self._connection, self._limits, self._end = connection, connection.limits, None
            self._renewals, self._sent, self._attaching = 0, [(0, connection.hello_sent)], None
            connection.start(lambda delivery: self._deliver(connection, delivery), lambda end: self._ended(connection, end))
            self._attach()

    def _attach(self) -> None:
        """Names the session with what it holds; behind it what has not been answered. A renewal goes right before it."""
        held = [list(key) for key in self._runs]
        renew = self._renew()
        self._attaching = self._next_id()
        requests = [renew, request(self._attaching, "attach", self._session(), held or None)]
        self._unanswered.clear()
        for run in self._runs.values():
            for said in run.unanswered():
                said.id = None
        requests += self._unsaid(*sorted(self._runs.values(), key=lambda run: run.settlement is None))
        self._send(*requests)

    def _session(self) -> List[Any]:
        session = [self.uuid, self.name, socket.gethostname(), os.getpid(), self._served, self._queues, self._min, self._max]
        return trimmed([*session, self._grace_ms, None, None, None, self._order or None])

    def _ended(self, connection: Connection, end: ConnectionLost) -> None:
        with self._changed:
            if self._connection is connection:
                self._connection = None
                self._end = end
                self._changed.notify_all()

    def _wait(self, seconds: float) -> None:
        """As long as that, or until somebody stops it; runs end where their lease does."""
        until = time.monotonic() + seconds
        with self._changed:
            while time.monotonic() < until:
                self._look()
                if self._stopping and not self._runs:
                    return
                self._changed.wait(min(until, self._lapse_due()) - time.monotonic())

    # The clock: this is where `_work` spends its time.

    def _serve(self) -> Optional[ConnectionLost]:
        """Until the connection ends (then why), or the worker has stopped (then None)."""
        drained = None
        with self._changed:
            while self._end is None:
                self._look()
                now = time.monotonic()
                if self._stopping and drained is None:
                    drained = now
                    self._send(request(self._next_id(), "drain", self.uuid))
                if drained is not None and self._settle_all(now - drained):
                    self._send(request(self._next_id(), "leave", self.uuid))
                    return None
                renew_due = self._renewed + min(RENEW_MAX, max(RENEW_MIN, self._shortest / 4))
                if now >= renew_due:
                    self._send(self._renew())
                    continue
                due = min(renew_due, self._lapse_due(), now + 0.2 if drained is not None else math.inf)
                self._changed.wait(max(0.001, due - now))
            return self._end

    def _settle_all(self, elapsed: float) -> bool:
        """Whether all is over: what still runs is told to stop after the timeout, and given back after the grace."""
        if elapsed >= self._stop_timeout:
            for run in self._runs.values():
                self._abort(run.job, "stop")
        return elapsed >= self._stop_timeout + self._grace or not self._runs

    def _look(self) -> None:
        """Runs whose lease has passed since the engine is known to have heard of us: they may be another's by now."""
        if self._known is None:
            return
        silence = time.monotonic() - self._known
        for key, run in list(self._runs.items()):
            if silence >= MARGIN * run.lease:
                self._disown(key)

    def _lapse_due(self) -> float:
        leases = [run.lease for run in self._runs.values()]
        return self._known + MARGIN * min(leases) if leases and self._known is not None else math.inf

    def _renew(self) -> List[Any]:
        self._renewals += 1
        self._renewed = time.monotonic()
        self._sent.append((self._renewals, self._renewed))
        return request(-self._renewals, "renew", self._renewals)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _send(self, *requests: Any) -> None:
        if self._connection is not None and requests:
            self._connection.write(*request_frames(requests, self._limits.frame_bytes))

    # What the engine says.

    def _deliver(self, connection: Connection, delivery: Delivery) -> None:
        with self._changed:
            if self._connection is not connection:
                return
            # First of all: a process that was stopped must not go on as if no time had passed.
            self._look()
            for reply in read_replies(delivery.replies):
                self._replied(*reply)
            while len(self._sent) > 1 and self._sent[1][0] <= delivery.renewal:
                self._sent.pop(0)
            # Until the engine has answered the attach, it renews a session that it may not have.
            if self._attaching is None:
                self._known = max(self._known or 0.0, self._sent[0][1])
            for kind, *fields in delivery.notices:
                self._notice(kind, fields)
            for grant in delivery.grants:
                self._granted(grant)
            self._changed.notify_all()

    def _replied(self, id: int, value: Any, error: Optional[Error]) -> None:
        if id == self._attaching:
            if error is not None:
                told = in_python("attach", error)
                self._end = ConnectionLost(told.message, told.code, None if told.code in HOPELESS or told.code == "FORBIDDEN" else 1.0)
                self._end.details = told.details
                return
            self._attached(value)
        run = self._unanswered.pop(id, None)
        if run is not None and self._runs.get(run.key) is run:
            for said in run.unanswered():
                if said.id == id:
                    self._answered(run, said, value, error)

    def _attached(self, answer: Attached) -> None:
        self._attaching = None
        for key in answer.lost:
            self._disown(key)

    def _answered(self, run: Run, said: Said, value: Any, error: Optional[Error]) -> None:
        if error is not None and error.code in RETRYABLE:
            said.id = None
            timer = threading.Timer(SAY_AGAIN, self._say_again, [run])
            timer.daemon = True
            timer.start()
        elif said.future is not None:
            run.questions.remove(said)
            resolve(said.future, value, error)
        elif said is run.checkpoint:
            run.checkpoint = None
        elif error is None or error.code in OVER or said.op == "giveBack":
            self._forget(run.key)
        elif said.op != "fail" or said.fields[1] is not None:
            # The outcome itself was refused: that is how the run failed.
            told = said.fields[0] if said.op == "fail" else [error.code, in_python(said.op, error).message[:TEXT_LENGTH]]
            run.settlement = Said("fail", told, False if error.code in HOPELESS else None)
            self._send(*self._unsaid(run))
        # Else there is nothing simpler to say. Held, the run ends at its deadline; forgotten, it would run again at once.

    def _notice(self, kind: int, fields: List[Any]) -> None:
        if kind == REATTACH:
            self._attach()
        elif kind == STOP:
            timeout = fields[1] / 1000
            # Told again it may have less patience, not more.
            if not self._stopping or timeout < self._stop_timeout:
                self.stop(timeout)
        elif kind in (ABORT, LOST, MESSAGED):
            key = (fields[1], fields[2])
            if kind == LOST:
                self._disown(key)
            elif key in self._runs and kind == MESSAGED:
                self._runs[key].job._durable.heard()
            elif key in self._runs:
                self._abort(self._runs[key].job, ABORT_CAUSES[fields[3]], *(*fields[4:6], None, None)[:2])

    def _granted(self, grant: Grant) -> None:
        lease = grant.heartbeat_timeout / 1000 or LEASE
        if time.monotonic() - self._sent[0][1] >= MARGIN * lease or self._stopping:
            self._send(request(self._next_id(), "giveBack", grant.seq, grant.run))
            return
        self._shortest = min(self._shortest, lease)
        run = Run(self._job_of(grant), lease)
        self._runs[run.key] = run
        try:
            self._begin(run.job)
        except RuntimeError:
            run.settlement = Said("giveBack")
            self._send(*self._unsaid(run))

    def _abort(self, job: JobContext, cause: str, reason: Optional[str] = None, by: Optional[str] = None) -> None:
        if job.abort_cause is None:
            job.cancel_reason, job.cancelled_by = reason, by
            job.abort_cause = cause
            job.aborted.set()
            self._tell_aborted(job)

    def _disown(self, key: Tuple[int, int]) -> None:
        run = self._forget(key)
        if run is not None:
            self._abort(run.job, "lost")

    def _forget(self, key: Tuple[int, int]) -> Optional[Run]:
        run = self._runs.pop(key, None)
        if run is not None:
            for question in run.questions:
                if question.future is not None:
                    resolve(question.future, None, stale())
        return run

    def _disown_all(self) -> None:
        with self._changed:
            for key in list(self._runs):
                self._disown(key)

    # How runs end.

    def _settle(self, job: JobContext, settlement: Settlement) -> None:
        job._durable.finish(settlement)
        with self._changed:
            run = self._run_of(job)
            if run is not None and settlement == (ASLEEP,):
                # The engine has ended the run with its wait.
                self._forget(run.key)
            elif run is not None:
                run.settlement = Said(*settlement)
                self._send(*self._unsaid(run))
            self._changed.notify_all()

    def _returned(self, job: JobContext, output: Any) -> Settlement:
        if job.ending is not None:
            return job.ending
        if job.abort_cause == "stop":
            # What it returns after it was told to stop may be half of its work: it is run again.
            return ("giveBack", True)
        try:
            data = encode_data(output, "output")
            self.check("output", data, job.enqueued_bytes)
            return ("complete", data, job.enqueued or None)
        except Exception as error:
            # What has no JSON now, or is too large, will be so the next time.
            return ("fail", failure(error)[0], False)

    def _unsaid(self, *runs: Run) -> List[Any]:
        """Requests for what is to be said of them."""
        requests = []
        for run in runs:
            for said in run.unanswered():
                if said.id is None:
                    said.id = self._next_id()
                    self._unanswered[said.id] = run
                    requests.append(request(said.id, said.op, *run.key, *said.fields))
        return requests

    def _say_again(self, run: Run) -> None:
        with self._changed:
            if self._runs.get(run.key) is run:
                self._send(*self._unsaid(run))

    def _run_of(self, job: JobContext) -> Optional[Run]:
        return self._runs.get((job.key.seq, job.run))

    # What jobs ask.

    def suspend(self, job: JobContext, ending: Settlement) -> None:
        """Notes that a durable call has ended the run."""
        with self._changed:
            job.ending = job.ending or ending
            job.abort_cause = job.abort_cause or "suspended"
            job.aborted.set()

    def check(self, what: str, data: Stored, beside: int = 0) -> None:
        """Raises Error where it is more than the engine stores, as the last connection has said it, or with what goes beside it crosses."""
        size = len(utf8(data)) if isinstance(data, str) else len(data or b"")
        self.check_size(what, size, math.inf if self._limits.data_bytes is None else self._limits.data_bytes)
        self.check_size(what, size + beside, math.inf)

    def check_size(self, what: str, size: int, most: float) -> None:
        # Whatever is stored, it comes in one frame, with a few words around it.
        most = min(self._limits.frame_bytes - 1024, most)
        if size > most:
            raise too_large(what, size, most)

    def save(self, job: JobContext, data: Stored) -> None:
        with self._changed:
            run = self._run_of(job)
            if run is not None:
                run.checkpoint = Said("checkpoint", data)
                self._send(*self._unsaid(run))

    def say(self, job: JobContext, op: str, *fields: Any) -> None:
        with self._changed:
            if self._run_of(job) is not None:
                self._send(request(self._next_id(), op, job.key.seq, job.run, *fields))

    def ask(self, job: JobContext, op: str, *fields: Any) -> Future[Any]:
        """The answer to a question about its run, also after a break. Error (STALE_RUN) if the run is no longer this worker's."""
        future: Future[Any] = Future()
        with self._changed:
            run = self._run_of(job)
            if run is None:
                resolve(future, None, stale())
            else:
                run.questions.append(Said(op, *fields, future=future))
                self._send(*self._unsaid(run))
        return future
