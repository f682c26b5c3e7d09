"""Why a job has not ended, in words: the same as those of the engine's other clients."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Dict, Mapping, Optional

from .reading import when
from .views import Explanation, JobCause

Fields = Mapping[str, Any]
Words = Callable[[Fields, Fields], str]


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (at.microsecond // 1000)


def _until(cause: Fields) -> str:
    at = when(cause.get("until"))
    return "" if at is None else " until " + _iso(at)


def _usage(cause: Fields) -> str:
    return "%s of %s" % (cause.get("used"), cause.get("limit"))


def _parents(cause: Fields, _job: Fields) -> str:
    used = cause.get("used")
    return " for other jobs of its flow" if used is None else " for %d other %s to end" % (used, "job" if used == 1 else "jobs")


# For each code the words behind "waits".
WORDS: Dict[str, Words] = {
    "time": lambda cause, _: " for its time" + _until(cause),
    "retry": lambda cause, _: " to be tried again" + _until(cause),
    "parents": _parents,
    "all-paused": lambda *_: ", because all queues are paused",
    "queue-paused": lambda cause, job: ", because queue '%s' is paused%s" % (job["queue"], _until(cause)),
    "name-paused": lambda cause, job: ", because '%s' is paused in queue '%s'%s" % (job["name"], job["queue"], _until(cause)),
    "key-paused": lambda cause, job: ", because key '%s' is paused in queue '%s'%s" % (cause.get("of"), job["queue"], _until(cause)),
    "no-worker": lambda _, job: ", because no worker serves '%(name)s' in queue '%(queue)s'" % job,
    "workers-unavailable": lambda _, job: ", because all workers for '%(name)s' in queue '%(queue)s' are paused, stopping or away" % job,
    "workers-full": lambda cause, _: ", because no worker has room for it now: %s places are taken" % _usage(cause),
    "queue-limit": lambda cause, job: ", because queue '%s' runs as many jobs as it may: %s" % (job["queue"], _usage(cause)),
    "shared-limit": lambda cause, _: ", because the queues that share the limit '%s' run as many jobs as they may: %s"
    % (cause.get("of"), _usage(cause)),
    "rate-limit": lambda cause, job: ", because queue '%s' has started as many jobs as its rate allows%s" % (job["queue"], _until(cause)),
    "key-order": lambda cause, _: ", because an earlier job of key '%s' has not ended" % cause.get("of"),
    "key-limit": lambda cause, _: ", because key '%s' runs as many jobs as it may: %s" % (cause.get("of"), _usage(cause)),
    "key-rate-limit": lambda cause, _: ", because key '%s' has started as many jobs as its rate allows%s" % (cause.get("of"), _until(cause)),
    "line": lambda _, job: " in line in queue '%(queue)s': jobs before it start first" % job,
}


def explanation(id: str, said: Optional[Fields]) -> Optional[Explanation]:
    if said is None:
        return None
    causes = [_cause(each, said) for each in said["causes"]]
    message = causes[0].message if causes else _unheld(said)
    deadline = when(said.get("deadlineAt"))
    return Explanation(id, said["name"], said["queue"], said["state"], said["attempt"], said["maxAttempts"], message, causes, deadline)


def _cause(said: Fields, job: Fields) -> JobCause:
    code = said["code"]
    words = WORDS.get(code)
    # A code that only a later engine knows is shown as it is.
    message = "waits" + (" (%s)" % code if words is None else words(said, job))
    return JobCause(code, message, said.get("of"), when(said.get("until")), said.get("used"), said.get("limit"))


def _unheld(job: Fields) -> str:
    if job["state"] == "active":
        at = when(job.get("deadlineAt"))
        deadline = "" if at is None else ", with a deadline of " + _iso(at)
        return "is running at attempt %d of %d%s" % (job["attempt"], job["maxAttempts"], deadline)
    if job["state"] in ("completed", "cancelled"):
        return "is %(state)s" % job
    return "has failed without a run" if job["attempt"] == 0 else "has failed after attempt %d" % job["attempt"]
