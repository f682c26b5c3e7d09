"""What a handler gets: the job, and what it can say about the run."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from ._blocking import follow
from ._options import JobOptions, Unpack
from ._schema import COMMAND_BYTES, LOG_LEVELS, PROGRESS_LENGTH, TEXT_LENGTH, Grant, Joined
from .codec import pack, units
from .data import decode_data, encode_data, json_text
from .durable import Durable, StepContext, ThreadDurable, message_fields, sleep_fields
from .encoding import NewJob, Seconds, Time, choice, job_from, job_list, number, trimmed
from .errors import Error, range_error
from .keys import JobKey
from .requests import behind_next
from .views import RunError

if TYPE_CHECKING:
    from .session import Session

    # What a job asks of its worker.
    Link = Session[Any]

JobsToJoin = Union[Iterable[NewJob], Callable[[], Iterable[NewJob]]]


class Parent(NamedTuple):
    """A job that this one has waited for. `state` is its final state, or 'deleted'."""

    id: str
    ref: str
    state: str
    output: Any
    error: Optional[RunError]


class Join(BaseException):
    """Ends the run of a job that waits for others. No Exception: a handler that catches those does not catch it."""

    def __init__(self, name: str) -> None:
        super().__init__("the job waits for the jobs that it has joined as %r" % name)


class JobContext:
    """What every handler gets, in a thread or as a coroutine."""

    def __init__(self, worker: Link, grant: Grant) -> None:
        self._link = worker
        self._pid = os.getpid()
        self._grant = grant
        self.key = JobKey(grant.seq, grant.node, grant.enqueued_at)
        self.name: str = grant.name
        self.queue: str = grant.queue
        self.run: int = grant.run
        self.attempt: int = grant.attempt
        self.max_attempts: int = grant.max_attempts
        self.tags: List[str] = grant.tags or []
        self.aborted = threading.Event()
        self.abort_cause: Optional[str] = None
        self.cancel_reason: Optional[str] = None
        self.cancelled_by: Optional[str] = None
        # Jobs that are created with its completion.
        self.enqueued: List[NewJob] = []
        self.enqueued_bytes = 0
        # What its join or a durable call has ended the run with: it counts, whatever the handler makes of the exception.
        self.ending: Optional[Tuple[Any, ...]] = None
        self._durable = self._durable_calls()

    def _durable_calls(self) -> Durable:
        raise NotImplementedError

    @property
    def _worker(self) -> Link:
        if os.getpid() != self._pid:
            message = "the job is of the process that runs its handler, and this one was forked from it: say it there, or use a client here"
            raise Error("STALE_RUN", message)
        return self._link

    @property
    def id(self) -> str:
        return str(self.key)

    @property
    def data(self) -> Any:
        return decode_data(self._grant.data)

    @property
    def checkpoint(self) -> Any:
        """What an earlier attempt has saved."""
        return decode_data(self._grant.checkpoint)

    @property
    def meta(self) -> Any:
        return decode_data(self._grant.meta)

    def enqueue(self, name: str, data: Any = None, **options: Unpack[JobOptions]) -> None:
        """Creates a job in the same commit as this job's completion, or not at all. For the options see `new_job`. At most 10,000 jobs and
        16 MiB in one run. Raises TypeError, Error (OPTION_TYPE, OPTION_RANGE)."""
        job = job_from("enqueue()", name, data, options)
        size = self.enqueued_bytes + len(pack(job))
        self._worker.check_size("enqueue", size, COMMAND_BYTES)
        self.enqueued.append(job)
        self.enqueued_bytes = size

    def heartbeat(self) -> None:
        """The deadline becomes at least now + heartbeat_timeout."""
        self._worker.say(self, "heartbeat")

    def save(self, value: Any) -> None:
        """Stores a checkpoint, which the next attempt finds; also a heartbeat. The last one is said again after a break. Raises Error
        (OPTION_TYPE; OPTION_RANGE where the engine would not store so much)."""
        data = encode_data(value, "checkpoint")
        self._worker.check("checkpoint", data)
        self._worker.save(self, data)

    def progress(self, fraction: float, note: Optional[str] = None, value: Any = None) -> None:
        """From 0 to 1, with a note of up to 4,096 characters and a JSON value of up to 16,384 characters. Raises Error (OPTION_TYPE,
        OPTION_RANGE)."""
        # Nobody waits for an answer, so what would be refused is refused here.
        if number("progress", fraction) is None or not 0 <= fraction <= 1:
            raise range_error("progress", 1, "between 0 and 1, got %r" % (fraction,))
        text = None if value is None else json_text(value, "value", "JSON")
        if text is not None and units(text) > PROGRESS_LENGTH:
            raise range_error("value", PROGRESS_LENGTH, "at most %d characters of JSON, got %d: store the rest with save" % (PROGRESS_LENGTH, units(text)))
        self._durable.report("progress", fraction, None if note is None else str(note)[:TEXT_LENGTH], text)

    def log(self, level: str, message: object, **fields: Any) -> None:
        """`level` is 'debug', 'info', 'warn' or 'error'; of the message 4,096 characters are kept."""
        line = [int(time.time() * 1000), choice("level", level, LOG_LEVELS), str(message)[:TEXT_LENGTH], _fields_text(fields)]
        self._durable.report("log", [trimmed(line)])

    def _known_join(self, name: Any) -> Optional[Joined]:
        """Of a join that has ended."""
        return next((each for each in self._grant.joined or [] if each.name == name), None)

    def _join(self, name: str, jobs: Any) -> None:
        """Ends the run with the jobs, unless there are none. Raises Join; Error (OPTION_TYPE)."""
        asked = job_list(jobs, "join")
        if asked:
            self._worker.check_size("join", len(pack(asked)), COMMAND_BYTES)
            self.ending = self.ending or ("join", name, asked)
            raise Join(name)

    def _parents_asked(self, after: Any, until: Any) -> Future[Any]:
        return self._worker.ask(self, "parents", *trimmed([after, until]))


class Job(JobContext):
    """What a handler gets. `aborted` is set when it is to stop: its deadline has passed, it was cancelled, the worker stops, or the
    job may be another's by now (`abort_cause` says which: 'timeout', 'cancel', 'stop', 'lost', or 'suspended' if a durable call has ended
    the run; `cancel_reason` and `cancelled_by` are what was said of a cancel, or None). A handler that runs for long looks at it."""

    def _durable_calls(self) -> ThreadDurable:
        self._calls = ThreadDurable(self)
        return self._calls

    def step(self, name: str, fn: Callable[[StepContext], Any]) -> Any:
        """Calls the function, stores what it returns with the job, and returns that as JSON gives it back, or bytes. A later run gets the
        stored value, and does not call the function. `name` occurs once in a job. If the function raises while the job has attempts left,
        the run fails, and the next one calls it again; the attempts begin again with each stored result. At the last attempt, or with
        Fail, the failure is stored. Raises StepFailedError then, in every run; Error (OPTION_TYPE, OPTION_RANGE); and RunSuspended, which
        is no Exception, if the run is over."""
        return self._calls.call(name, "step", fn)

    def sleep(self, name: str, until: Time) -> None:
        """Returns after so many seconds, or at a datetime. Until then the run has ended, by RunSuspended, and a later one comes back to
        this place: the job holds no place, and no attempt is used. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        self._calls.call(name, "sleep", None, sleep_fields(until))

    def wait_for(self, message: str, *, timeout: Optional[Seconds] = None, as_: Optional[str] = None) -> Any:
        """Returns the data of the oldest message of that name which was sent to the job, or waits for one, as `sleep` does. With a `timeout`
        in seconds it returns None once that has passed; it returns None for a message without data, too. `as_` is the name of this wait, if
        a message of that name is awaited again. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        return self._calls.call(message if as_ is None else as_, "message", None, message_fields(message, timeout))

    def changed(self, name: str) -> bool:
        """Returns False for a job that had passed this place before the call was in the code, otherwise True. Raises Error (OPTION_TYPE,
        OPTION_RANGE)."""
        return bool(self._calls.call(name, "change"))

    def join(self, name: str, jobs: JobsToJoin) -> Iterator[Parent]:
        """Waits for jobs that this job creates, without holding its place: `jobs` is a list of `new_job(...)`, or a function that returns
        one. The first time, they are created and the run ends, in one commit: no attempt is used. When all of them have ended, in
        whatever state, the handler runs again from its beginning, and the same call returns an iterator of a Parent each, in their order;
        the function is not called. `name` tells apart several joins of one handler. No jobs: nothing is awaited. At most 10,000 jobs and
        16 MiB in one join, 100 joins and 50,000 jobs in one job. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        known = self._known_join(name)
        if known is not None:
            return self._parents(known.place - 1, known.place + known.jobs - 1)
        self._join(name, jobs() if callable(jobs) else jobs)
        return iter(())

    def parents(self) -> Iterator[Parent]:
        """Iterates over the jobs of its flow that this job has waited for, a Parent each. They are read on demand, page by page."""
        return self._parents(None, None)

    def _parents(self, first: Optional[int], until: Optional[int]) -> Iterator[Parent]:
        return follow(lambda mark: parents_page(self._parents_asked(first if mark is None else mark, until).result()))


def _parent(said: Dict[str, Any]) -> Parent:
    key = JobKey(said["seq"], said["node"], said["enqueuedAt"])
    return Parent(str(key), said["ref"], said["state"], decode_data(said["output"]), said.get("error"))


parents_page = behind_next("parents", _parent)


def _fields_text(fields: Dict[str, Any]) -> Optional[str]:
    """A log line is no reason to fail a job."""
    try:
        return json.dumps(fields, allow_nan=False)[:TEXT_LENGTH] if fields else None
    except (TypeError, ValueError) as error:
        return json.dumps({"unreadable": str(error)})
