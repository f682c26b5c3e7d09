"""Why a job has not ended, in words: the same as those of the engine's other clients."""

from __future__ import annotations

from typing import Any, Mapping

from ._schema import CAUSES
from .reading import when
from .views import Explanation, JobCause

Fields = Mapping[str, Any]


def _when(words: str, ms: Any) -> str:
    at = when(ms)
    return "" if at is None else "%s %s.%03dZ" % (words, at.strftime("%Y-%m-%dT%H:%M:%S"), at.microsecond // 1000)


def _words(cause: Fields, job: Fields) -> str:
    """What stands behind "waits". A code that only a later engine knows is shown as it is."""
    code, used = cause["code"], cause.get("used")
    if code == "parents":
        return " for other jobs of its flow" if used is None else " for %d other %s to end" % (used, "job" if used == 1 else "jobs")
    words = CAUSES.get(code, " (%s)" % str(code).replace("%", "%%"))
    said = {"of": cause.get("of"), "used": used, "limit": cause.get("limit"), "until": _when(" until", cause.get("until"))}
    return words % {**job, **said}


def explanation(id: str, said: Fields) -> Explanation:
    causes = [_cause(each, said) for each in said["causes"]]
    message = causes[0].message if causes else _unheld(said)
    deadline = when(said.get("deadlineAt"))
    return Explanation(id, said["name"], said["queue"], said["state"], said["attempt"], said["maxAttempts"], message, causes, deadline)


def _cause(said: Fields, job: Fields) -> JobCause:
    return JobCause(said["code"], "waits" + _words(said, job), said.get("of"), when(said.get("until")), said.get("used"), said.get("limit"))


def _unheld(job: Fields) -> str:
    if job["state"] == "active":
        deadline = _when(", with a deadline of", job.get("deadlineAt"))
        return "is running at attempt %d of %d%s" % (job["attempt"], job["maxAttempts"], deadline)
    if job["state"] in ("completed", "cancelled"):
        return "is %(state)s" % job
    return "has failed without a run" if job["attempt"] == 0 else "has failed after attempt %d" % job["attempt"]
