"""The durable calls of a handler: what they take, how they end their run, and which of its reports count."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Tuple, Union

from ._schema import DURATION_MS, KEY_LENGTH, START
from .codec import units
from .data import encode_data
from .encoding import Seconds, Time, milliseconds, number, time_ms
from .errors import Error, RunSuspended, StepsChangedError, range_error, type_error
from .failures import Cancel, Snooze, failure, is_hopeless
from .order import Call, Row
from .replay import ASLEEP, Replay, Then
from .runs import Settlement, raised

if TYPE_CHECKING:
    from .job import JobContext

HELD_SECONDS, HELD_REPORTS = 0.1, 100


class StepContext(NamedTuple):
    """What the function of a step gets. `key` is the same in every attempt, and no other step has it: give it to the other side as its
    idempotency key. `attempt` is the number of the attempt, from 1: the attempts begin again with each recorded result."""

    key: str
    attempt: int


class HeldReports:
    """Holds what a handler reports before its first durable call, in a run after the first: an earlier run may have made these reports from
    the same place. That call shows whether anything is recorded. Without it, reports are held for at most `HELD_SECONDS`, and at most
    `HELD_REPORTS` of them."""

    def __init__(self, is_first: bool, say: Callable[..., None]) -> None:
        self._say = say
        self._lock = threading.RLock()
        self._reports: Optional[List[Tuple[Any, ...]]] = None if is_first else []
        self._timer: Optional[threading.Timer] = None
        self._is_bound = True

    def take(self, *report: Any) -> bool:
        """Returns False if nothing is held any more."""
        with self._lock:
            if self._reports is None:
                return False
            self._reports.append(report)
            if self._is_bound and self._timer is None:
                self._timer = threading.Timer(HELD_SECONDS, self.end, [True])
                self._timer.daemon = True
                self._timer.start()
            if self._is_bound and len(self._reports) >= HELD_REPORTS:
                self.end(True)
            return True

    def wait(self) -> None:
        """Waits for the answer to the first durable call, however long that takes."""
        with self._lock:
            self._is_bound = False
            if self._timer is not None:
                self._timer.cancel()

    def end(self, is_stored: bool) -> None:
        """Says what is held, or drops it."""
        with self._lock:
            self.wait()
            reports, self._reports = self._reports, None
            for report in reports if reports and is_stored else ():
                self._say(*report)


class Durable(Replay):
    """The durable calls of one run."""

    def __init__(self, job: JobContext) -> None:
        super().__init__(job.run == 1)
        self._job = job
        self._reports = HeldReports(job.run == 1, self._say)

    def _post(self, then: Callable[[], None]) -> None:
        """Calls it where the handler makes its durable calls. From any thread."""
        raise NotImplementedError

    def _step_of(self) -> Optional[str]:
        """Returns the name of the step of this run that calls; None outside of its steps."""
        raise NotImplementedError

    def report(self, op: str, *fields: Any) -> None:
        """Says it, unless an earlier run has, or may have: then it is dropped or held."""
        worker, is_over = self._job._worker, self._step_of() is not None
        if is_over or not (self.is_repeating if self.is_known and self._names else self._reports.take(op, *fields)):
            worker.say(self._job, op, *fields)

    def stop(self) -> None:
        """Gives the job back at the next durable call, or when the steps that run have ended. From any thread."""
        self._post(self.leave)

    def heard(self) -> None:
        """Notes that a message has come for the run. From any thread."""
        self._post(self.messaged)

    def finish(self, settlement: Settlement) -> None:
        """Ends what is left of the durable calls of a handler that has ended."""
        self._reports.end(not (self._names and self.is_known))
        self.close()
        if settlement[0] == "complete" and self.unasked is not None:
            self._say("log", [[self._now(), 2, StepsChangedError(None, self.unasked).message]])

    def _begin(self, name: Any, kind: str, future: Any, fn: Any, wait: List[Any]) -> Call:
        """Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        worker, outer = self._job._worker, self._step_of()
        if outer is not None:
            message = "%r is asked for within the step %r, which a crash would repeat as a whole: ask for it outside of steps"
            raise Error("OPTION_TYPE", message % (name, outer), {"option": "name"})
        if not isinstance(name, str) or name == START:
            raise type_error("name", "a string other than %r, which stands for the beginning of a handler, got %r" % (START, name))
        if not 0 < units(name) <= KEY_LENGTH:
            raise range_error("name", KEY_LENGTH, "1 to %d characters long, got %d" % (KEY_LENGTH, units(name)))
        if kind == "step" and not callable(fn):
            raise type_error("fn", "a function to call in the step %r, got %r" % (name, fn))
        self._reports.wait()
        if worker._stopping:
            self.leave()
        return self.ask(name, kind, future, fn, wait)

    def _loaded(self, rows: List[Row], waits: List[Row], generation: int) -> None:
        self._reports.end(not rows)
        super()._loaded(rows, waits, generation)

    # How a step ends.

    @property
    def _attempt(self) -> int:
        return 1 if self.has_recorded else self._job.attempt

    def _context_of(self, call: Call) -> StepContext:
        suffix = ":%d" % self.generation if self.generation else ""
        return StepContext("%s:%s%s" % (self._job.id, call.name, suffix), self._attempt)

    def _returned(self, call: Call, started_at: int, value: Any) -> None:
        try:
            data = encode_data(value, "step")
            self._job._worker.check("step", data, 4 * len(call.name))
        except Exception as error:
            self._raised(call, started_at, error)
        else:
            self.record(call, started_at, data)

    def _raised(self, call: Call, started_at: int, error: BaseException) -> None:
        """A step that has no attempts left is not tried again. A handler that asks for another end, or that is told to stop, has no
        failure."""
        job = self._job
        is_end = job.ending is not None or job.abort_cause in ("stop", "lost", "suspended") or isinstance(error, (Cancel, Snooze))
        if not is_end and (self._attempt >= job.max_attempts or is_hopeless(error)):
            self.record(call, started_at, None, failure(error)[0])
        else:
            self.fail(error)

    # What the replay needs. The session repeats a question for as long as it holds the run.

    def _request(self, then: Then, op: str, *fields: Any) -> None:
        try:
            asked = self._job._worker.ask(self._job, op, *fields)
        except Error as error:
            asked = Future()
            asked.set_exception(error)
        asked.add_done_callback(lambda answered: self._post(lambda: self._answered(answered, then)))

    def _answered(self, answered: Future[Any], then: Then) -> None:
        error = answered.exception()
        if error is not None:
            self.end(error)
        elif not self.is_dead:
            then(answered.result())

    def _ended(self, reason: Union[str, BaseException]) -> None:
        ending: Settlement = (ASLEEP,) if reason == ASLEEP else ("giveBack", True)
        if isinstance(reason, StepsChangedError):
            ending = ("fail", failure(reason)[0], None, None, None, True)
        elif isinstance(reason, BaseException):
            ending = raised(self._job, reason)
        self._job._worker.suspend(self._job, ending)

    def _now(self) -> int:
        return int(time.time() * 1000)

    def _say(self, op: str, *fields: Any) -> None:
        self._job._worker.say(self._job, op, *fields)


class ThreadDurable(Durable):
    """Those of a handler in a thread, one after another: while a call is open, its thread does what the call waits for."""

    def __init__(self, job: JobContext) -> None:
        super().__init__(job)
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._calling = threading.Lock()
        self._step: Tuple[Optional[int], Optional[str]] = (None, None)

    def call(self, name: str, kind: str, fn: Any = None, wait: Any = ()) -> Any:
        """Raises Error (OPTION_TYPE, OPTION_RANGE), StepFailedError, RunSuspended."""
        is_within = self._step_of() is not None
        if not is_within and not self._calling.acquire(blocking=False):
            message = "%r is asked for while another durable call of the job is open: ask for one after another, or use an AsyncWorker"
            raise Error("OPTION_TYPE", message % (name,), {"option": "name"})
        try:
            future: Future[Any] = Future()
            call = self._begin(name, kind, future, fn, list(wait))
            while not call.is_over and not self.is_dead:
                self._todo.get()()
        finally:
            if not is_within:
                self._calling.release()
        if not call.is_over:
            raise RunSuspended()
        return future.result()

    def _step_of(self) -> Optional[str]:
        thread, name = self._step
        return name if thread == threading.get_ident() else None

    def _post(self, then: Callable[[], None]) -> None:
        self._todo.put(then)

    _after_turn = _post

    def _timer(self, seconds: float, then: Callable[[], None]) -> Callable[[], None]:
        timer = threading.Timer(seconds, self._post, [then])
        timer.daemon = True
        timer.start()
        return timer.cancel

    def _run(self, call: Call) -> None:
        self._post(lambda: self._work(call))

    def _work(self, call: Call) -> None:
        started_at, error = self._now(), None
        self._step = (threading.get_ident(), call.name)
        try:
            value = call.fn(self._context_of(call))
        except BaseException as caught:
            error = caught
        self._step = (None, None)
        if error is None:
            self._returned(call, started_at, value)
        else:
            self._raised(call, started_at, error)


def message_fields(message: str, timeout: Optional[Seconds]) -> List[Any]:
    """The fields of a wait for a message. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    if not isinstance(message, str) or not 0 < units(message) <= KEY_LENGTH:
        raise type_error("message", "a string of 1 to %d characters, got %r" % (KEY_LENGTH, message))
    delay = None if number("timeout", timeout, 0) is None else milliseconds("timeout", timeout)
    return [delay, None, message]


def sleep_fields(until: Time) -> List[Any]:
    """The fields of a wait that ends after so many seconds, or at a datetime. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    if not isinstance(until, datetime):
        if number("sleep", until, 0) is None:
            raise type_error("sleep", "a number of seconds or a datetime, got None")
        return [milliseconds("sleep", until)]
    at = time_ms("sleep", until)
    if at - time.time() * 1000 > DURATION_MS:
        raise range_error("sleep", DURATION_MS / 1000, "at most a hundred years from now, got %s" % until)
    return [None, at]
