"""What a worker holds, and what it has said of it and must say again until it is answered."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from ._schema import DEFAULTS, LEASE_MS
from .encoding import encoded, known_options, trimmed
from .errors import Error, type_error
from .failures import Cancel, Snooze, failure

if TYPE_CHECKING:
    from .job import JobContext

Settlement = Tuple[Any, ...]

LEASE = LEASE_MS / 1000  # of a job whose heartbeat_timeout is 0
MARGIN = 0.95  # a lease ends here a little before it ends there
RENEW_MIN, RENEW_MAX = 0.05, 15.0
SAY_AGAIN = 0.25  # after a refusal that leaves it open
# Refusals after which nobody is left to hear of a run, and those that come again.
OVER = frozenset("STALE_RUN ENGINE_STOPPED ENGINE_FAILED OWNER_LOST".split())
HOPELESS = frozenset("OPTION_TYPE OPTION_RANGE CODEC".split())


class Said:
    """What is said of a run. `id` is that of its request, None where it is to be said; a question has a `future`, for its answer."""

    __slots__ = ("op", "fields", "id", "future")

    def __init__(self, op: str, *fields: Any, future: Optional[Future[Any]] = None) -> None:
        self.op, self.fields, self.future = op, fields, future
        self.id: Optional[int] = None


class Run:
    __slots__ = ("job", "key", "lease", "checkpoint", "settlement", "questions")

    def __init__(self, job: JobContext, lease: float) -> None:
        self.job = job
        self.key: Tuple[int, int] = (job.key.seq, job.run)
        self.lease = lease
        # The last one, and what was said of its end, until they are answered.
        self.checkpoint: Optional[Said] = None
        self.settlement: Optional[Said] = None
        # What the handler has asked and waits for.
        self.questions: List[Said] = []

    def unanswered(self) -> List[Said]:
        """In the order in which it is said: behind its settlement the checkpoint would be of a run that is over."""
        return [said for said in (*self.questions, self.checkpoint, self.settlement) if said is not None]


def stale() -> Error:
    return Error("STALE_RUN", "the run is no longer this worker's: another may have the job by now")


def too_large(what: str, size: int, most: float) -> Error:
    remedy = "split the work into several jobs" if what in ("join", "enqueue") else "keep large content elsewhere, or raise maxDataBytes of the engine"
    message = "%s has %d bytes, and at most %d are stored: %s" % (what, size, most, remedy)
    return Error("OPTION_RANGE", message, {"option": what, "limit": most})


def raised(job: JobContext, error: BaseException) -> Settlement:
    """How a run ends whose handler has raised this."""
    try:
        if job.ending is not None:
            return job.ending
        if isinstance(error, Snooze):
            return ("snooze", error.delay_ms, error.pause)
    except BaseException as careless:
        # A subclass of Snooze that never called ours.
        error = careless
    if isinstance(error, Cancel):
        # A server that does not know the last field fails the job permanently.
        return ("fail", failure(error)[0], False, True)
    # What a worker that stops has cut short is no failure of the job.
    return ("giveBack", True) if job.abort_cause == "stop" else ("fail", *failure(error))


def handlers_of(handlers: Any) -> Dict[str, Any]:
    """Raises Error (OPTION_TYPE)."""
    if not isinstance(handlers, Mapping) or not handlers:
        raise type_error("handlers", "a dict of functions by name of job, got %r" % (handlers,))
    for each, handler in handlers.items():
        if not isinstance(each, str) or not callable(handler):
            raise type_error("handlers", "a dict of functions by name of job, got %r for %r" % (handler, each))
    return dict(handlers)


def defaults_of(handler: str, options: Any) -> List[Any]:
    """The defaults of a name of job, for jobs that are enqueued by name alone."""
    known_options("the defaults of %r" % handler, options, DEFAULTS)
    return trimmed(encoded(DEFAULTS, options))
