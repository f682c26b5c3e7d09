"""The calls of the client about queues, workers and backups, and those that change many jobs: slice by slice, newest first, so that no turn
of the engine is long. See `operations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence

from ._options import JobFilter
from ._schema import IDS_PER_SLICE, PLACE_CHANGES, SLICE, STATES
from .encoding import Seconds, Time, choice, encoded, endless, flag, known_options, listed, milliseconds, number, scalar, trimmed
from .errors import Error, type_error
from .filters import filter_fields, id_list, many_filter
from .requests import Patient, Request, Steps, nothing
from .settings import SETTINGS, QueueSettings, changes_of
from .views import ManyResult, PurgeResult

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack

PURGED_STATES = ("blocked", "scheduled", "waiting", "completed", "failed", "cancelled")


def cancel_many(
    filter: JobFilter,
    reason: Optional[str] = None,
    by: Optional[str] = None,
    *,
    limit: Optional[int] = None,
    dry_run: bool = False,
) -> Steps[ManyResult]:
    """Cancels all jobs that match the filter, newest first: those that have not started at once, running ones by their abort. `filter` is a
    dict (`JobFilter`): give at least one condition, or `{"all": True}` for every job. `reason`: up to 1,000 characters, and `by`: up to
    128, as of `cancel`. `limit`: at most so many jobs change, 1 or more; default all of them. `dry_run` counts, and changes nothing. At
    most 500 jobs change in one commit; of an error in between, `done` says what had changed. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    return _many("cancelMany", filter, limit, dry_run, scalar("reason", reason), scalar("by", by))


def retry_many(filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> Steps[ManyResult]:
    """Retries all jobs that match the filter and that failed, were cancelled or wait for a retry. `filter`, `limit`, `dry_run` and errors:
    as of `cancel_many`."""
    return _many("retryMany", filter, limit, dry_run)


def delete_many(filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> Steps[ManyResult]:
    """Removes all jobs that match the filter, with their logs and keys, idempotency keys included. Running jobs are kept and counted.
    `filter`, `limit`, `dry_run` and errors: as of `cancel_many`."""
    return _many("deleteMany", filter, limit, dry_run)


def run_now_many(filter: JobFilter, *, limit: Optional[int] = None, dry_run: bool = False) -> Steps[ManyResult]:
    """Makes all scheduled jobs that match the filter due now, also those that wait for a retry. `filter`, `limit`, `dry_run` and errors:
    as of `cancel_many`."""
    return _many("runNowMany", filter, limit, dry_run)


def update_many(
    filter: JobFilter,
    *,
    run_at: Optional[Time] = None,
    priority: Optional[int] = None,
    weight: Optional[int] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Any = None,
    limit: Optional[int] = None,
    dry_run: bool = False,
) -> Steps[ManyResult]:
    """Changes all jobs that match the filter: tags and meta, which replace all that a job has, in any state, and `run_at`, `priority`
    (-1,000,000 to 1,000,000) or `weight` (1 to 1,000,000) of those that have not started. What is left out stays as it is. `filter`,
    `limit`, `dry_run` and errors: as of `cancel_many`."""
    changes: Dict[str, Any] = {"run_at": run_at, "priority": priority, "weight": weight, "tags": tags, "meta": meta}
    fields = trimmed(encoded(PLACE_CHANGES, changes))
    if not fields:
        raise type_error("changes", "given: %s" % ", ".join(changes))
    return _many("updateMany", filter, limit, dry_run, fields)


def _many(op: str, wanted: Any, limit: Any, dry_run: Any, *more: Any) -> Steps[ManyResult]:
    said, fields = many_filter(wanted)
    ids = None if said.get("ids") is None else id_list(said["ids"])
    most = number("limit", limit, 1)
    return _run(op, fields, scalar("search", said.get("search")), ids, most, bool(flag("dry_run", dry_run)), more)


def _run(
    op: str, fields: Sequence[Any], search: Optional[str], ids: Optional[List[Any]], limit: Optional[int], dry_run: bool, more: Sequence[Any]
) -> Steps[ManyResult]:
    def asked(size: int, before: Optional[int], dry: bool, of: Optional[List[Any]]) -> Request[Any]:
        return Request(op, list(fields), size, before, dry, of, search, *more, read=_slice)

    counts: Dict[str, int] = {"matched": 0, "changed": 0}
    skipped: Dict[str, int] = {}
    before: Optional[int] = None
    at = 0
    while ids is None or at < len(ids):
        part = None if ids is None else ids[at : at + IDS_PER_SLICE]
        size = SLICE if limit is None else min(limit - counts["changed"], SLICE)
        try:
            done = yield asked(size, before, dry_run, part)
            for count in counts:
                counts[count] += done[count]
            for reason, number in done["skipped"].items():
                skipped[reason] = skipped.get(reason, 0) + number
        except Error as error:
            error.done = ManyResult(**counts, skipped=skipped) if counts["changed"] else None
            raise
        before, at = (done["next"] if ids is None else None), at + IDS_PER_SLICE
        if (ids is None and before is None) or (limit is not None and counts["changed"] >= limit):
            break
    return ManyResult(**counts, skipped=skipped)


def _slice(said: Any) -> Mapping[str, Any]:
    # What a slice must have, read where an answer without it is told by the operation's name.
    return {name: said[name] for name in ("matched", "changed", "skipped", "next")}


def configure_queue(queue: str, **settings: Unpack[QueueSettings]) -> Request[None]:
    """Changes the given settings of the queue, which is created by its first use. What is left out stays, and None removes a setting. They
    apply at once, for every worker. docs/limits.md says what each means.

    `concurrency_limit`, `per_key_limit`: 1 to 1,000,000. `shared_limit`: a dict of `name`, `limit`. `rate_limit`, `per_key_rate_limit`: a
    dict of `limit`, `period` (seconds, 1 ms to 365 days, default 1) and `burst` (default `limit`), both 1 to 1,000,000,000. `key_tiers`:
    a dict by name of tier, at most 100, of dicts of `per_key_limit`, `per_key_rate_limit`. `key_order`: 'turns' (default) or 'strict'.
    `max_length`: 1 to 1,000,000,000 jobs that have not started. `on_full`: 'reject' (default) or 'drop-oldest'. `share`: 1 to 1,000,
    default 1. `fairness`: 'none' (default) or 'name'. `dead_letter`: the name of another queue. `repeats`: 'silent' (default) or 'event'.
    `retention`: a dict of `completed`, `failed`, `cancelled`, each seconds, 'forever', or a dict of `age`, `count`. `defaults`: a dict of
    options of `new_job`: priority, weight, tokens, max_attempts, max_lost, max_age, backoff, timeout, heartbeat_timeout, ttl, keep,
    log_lines. What you read as `settings` of a queue is what sets them.

    Raises TypeError for an unknown setting, Error (OPTION_TYPE, OPTION_RANGE; QUEUE_NOT_EMPTY if `key_order` changes while jobs have not
    ended; UNSUPPORTED for settings that exclude each other)."""
    known_options("configure_queue()", settings, SETTINGS)
    return Request("configure", scalar("queue", queue), changes_of(settings), read=nothing)


def pause_queue(queue: str, *, name: Optional[str] = None, key: Optional[str] = None, duration: Optional[Seconds] = None) -> Request[None]:
    """Starts no more jobs of the queue, or only none of one name or one concurrency key in it, until `resume_queue`, or for `duration`, 1 ms
    or more: of two pauses the later end counts. What runs is left alone. Raises Error (QUEUE_NOT_FOUND)."""
    return _paused(queue, name, key, True, milliseconds("duration", duration))


def resume_queue(queue: str, *, name: Optional[str] = None, key: Optional[str] = None) -> Request[None]:
    """Undoes `pause_queue` of the same parts; without parts it also ends `drain_queue`. Raises Error (QUEUE_NOT_FOUND)."""
    return _paused(queue, name, key, False, None)


def _paused(queue: Any, name: Any, key: Any, paused: bool, ms: Optional[int]) -> Request[None]:
    if name is not None and key is not None:
        raise type_error("key", "left out with a name: a pause is of a queue, of a name in it, or of a key in it")
    return Request("pause", scalar("queue", queue), scalar("name", name), scalar("key", key), paused, True, ms, read=nothing)


def pause_all() -> Request[None]:
    """Starts nothing of any queue, until `resume_all`."""
    return Request("pauseAll", True, read=nothing)


def resume_all() -> Request[None]:
    """Undoes `pause_all`, but no queue's own pause."""
    return Request("pauseAll", False, read=nothing)


def drain_queue(queue: str, timeout: Optional[Seconds] = None) -> Patient[None]:
    """Refuses new jobs of the queue (QUEUE_DRAINING) until `resume_queue`. Returns when none is left that has not ended. Raises Error
    (DRAIN_INCOMPLETE) if it is resumed before, and TimeoutError after `timeout` seconds, 0 or more, by default never: the queue then
    continues to drain, as it does after ConnectionLost, and a further call waits again."""
    number("timeout", timeout, 0)
    what = "the queue %s was not empty" % (queue,)
    return Patient("drainQueue", scalar("queue", queue), read=nothing, what=what, timeout=timeout, again=False)


def purge_queue(queue: str, states: Optional[Iterable[str]] = None, *, dry_run: bool = False) -> Steps[PurgeResult]:
    """Removes the queue's jobs, at most 500 in one commit: those in `states`, some of 'blocked', 'scheduled', 'waiting', 'completed',
    'failed' and 'cancelled', by default all of these. Running jobs are kept and counted. `dry_run` counts, and removes nothing. Raises
    Error (OPTION_TYPE)."""
    if not isinstance(queue, str):
        raise type_error("queue", "the name of a queue, got %r" % (queue,))
    if states is None:
        return _purge(queue, PURGED_STATES, bool(flag("dry_run", dry_run)))
    places = {choice("states", state, PURGED_STATES) for state in listed("states", states)}
    if not places:
        raise type_error("states", "at least one of %s, got none" % ", ".join(PURGED_STATES))
    return _purge(queue, [PURGED_STATES[place] for place in sorted(places)], bool(flag("dry_run", dry_run)))


def _purge(queue: str, states: Sequence[str], dry_run: bool) -> Steps[PurgeResult]:
    before = yield Request("queues", queue, read=_counts)
    counts: Dict[str, int] = {}
    for state in states:
        if dry_run:
            counts[state] = before.get(state, 0)
        else:
            removed = yield from _run("deleteMany", filter_fields({"queue": queue, "state": state}), None, None, None, False, ())
            counts[state] = removed.changed
    after = before if dry_run else (yield Request("queues", queue, read=_counts))
    return PurgeResult(counts, sum(counts.values()), after.get("active", 0))


def _counts(found: Any) -> Dict[str, int]:
    return dict(found[0]["states"]) if found else {}


def delete_queue(queue: str) -> Request[bool]:
    """Forgets an empty queue: its settings, pauses and counters. False if there was none. Raises Error (QUEUE_NOT_EMPTY)."""
    return Request("deleteQueue", scalar("queue", queue), read=bool)


def stop_worker(worker: str, timeout: Seconds = 30.0) -> Request[None]:
    """Makes every worker with that id, in any process, stop as by its own `stop`: it gets no more jobs, and what runs has `timeout` seconds,
    0 or more, or math.inf. `workers` has it until it has left. Raises Error (WORKER_NOT_FOUND)."""
    return Request("stopWorker", scalar("worker", worker), endless("timeout", timeout), read=nothing)


def delete_export(name: str) -> Request[bool]:
    """Keeps nothing for the export any longer; its readers get an error. False if there was none. Raises Error (OPTION_TYPE)."""
    return Request("deleteExport", scalar("name", name), read=bool)


def backup(file: str) -> Request[int]:
    """Writes a copy of the database to a new file while the engine works on, and returns its bytes. `file` is a path on the server, of up to
    4,096 characters. Raises Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED on Postgres)."""
    return Request("backup", scalar("file", file), read=lambda said: int(said["bytes"]))
