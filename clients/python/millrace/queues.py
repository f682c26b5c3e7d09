"""The calls of the client about queues, workers and backups, and those that change many jobs: slice by slice, newest first, so that no turn
of the engine is long. See `operations`."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from ._options import JobFilter, ManyOptions, PlaceChanges, QueueSettings, Unpack
from ._schema import IDS_PER_SLICE, PLACE_CHANGES, PURGED_STATES, SETTINGS, SLICE
from .encoding import CAMEL, Seconds, changed, choice, flag, known_options, listed, mapped, number, scalar
from .errors import Error, type_error
from .filters import filter_fields, many_filter
from .requests import Patient, Request, Steps, asked, nothing
from .views import ManyResult, PurgeResult


def cancel_many(
    filter: JobFilter, reason: Optional[str] = None, by: Optional[str] = None, **options: Unpack[ManyOptions]
) -> Steps[ManyResult]:
    """Cancels all jobs that match the filter, newest first: those that have not started at once, running ones by their abort. `filter` is a
    dict (`JobFilter`): give at least one condition, or `{"all": True}` for every job. `reason`: {cancelMany.reason}, and `by`:
    {cancelMany.by}, as of `cancel`. At most {sliceRows} jobs change in one commit; of an error in between, `done` says what had changed.
    Without `limit` all of them change.

    {ManyOptions}
    """
    return _many("cancelMany", filter, options, reason=reason, by=by)


def retry_many(filter: JobFilter, **options: Unpack[ManyOptions]) -> Steps[ManyResult]:
    """Retries all jobs that match the filter and that failed, were cancelled or wait for a retry. `filter`, `limit`, `dry_run` and errors:
    as of `cancel_many`."""
    return _many("retryMany", filter, options)


def delete_many(filter: JobFilter, **options: Unpack[ManyOptions]) -> Steps[ManyResult]:
    """Removes all jobs that match the filter, with their logs and keys, idempotency keys included. Running jobs are kept and counted.
    `filter`, `limit`, `dry_run` and errors: as of `cancel_many`."""
    return _many("deleteMany", filter, options)


def run_now_many(filter: JobFilter, **options: Unpack[ManyOptions]) -> Steps[ManyResult]:
    """Makes all scheduled jobs that match the filter due now, also those that wait for a retry. `filter`, `limit`, `dry_run` and errors:
    as of `cancel_many`."""
    return _many("runNowMany", filter, options)


def update_many(filter: JobFilter, **options: Unpack[PlaceChanges]) -> Steps[ManyResult]:
    """Changes all jobs that match the filter: tags and meta in any state, the rest of those that have not started. What is left out stays
    as it is. `filter` and errors: as of `cancel_many`.

    {PlaceChanges}
    """
    changes = {name: value for name, value in options.items() if name in PLACE_CHANGES}
    return _many("updateMany", filter, options, changes=changed(PLACE_CHANGES, changes))


def _many(op: str, wanted: Any, options: Mapping[str, Any], **more: Any) -> Steps[ManyResult]:
    fields, search, ids = many_filter(wanted)
    limit, dry_run = number("limit", options.get("limit"), 1), bool(flag("dry_run", options.get("dry_run")))
    return _run(asked(op, _slice, filter=fields, search=search, **more).behind(None, dry_run=dry_run), ids, limit)


def _run(first: Request[Tuple[ManyResult, Any]], ids: Optional[List[Any]], limit: Optional[int]) -> Steps[ManyResult]:
    total, before = ManyResult(0, 0, {}), None
    parts: List[Any] = [None] if ids is None else [ids[at : at + IDS_PER_SLICE] for at in range(0, len(ids), IDS_PER_SLICE)]
    while parts and (limit is None or total.changed < limit):
        size = SLICE if limit is None else min(limit - total.changed, SLICE)
        try:
            done, after = yield first.behind(before, limit=size, ids=parts[0])
        except Error as error:
            error.done = total if total.changed else None
            raise
        skipped = {reason: total.skipped.get(reason, 0) + count for reason, count in done.skipped.items()}
        total = ManyResult(total.matched + done.matched, total.changed + done.changed, {**total.skipped, **skipped})
        if ids is None and after is not None:
            before = after
        else:
            del parts[0]
    return total


def _slice(said: Any) -> Tuple[ManyResult, Any]:
    return ManyResult(said["matched"], said["changed"], said["skipped"]), said["next"]


def configure_queue(queue: str, **settings: Unpack[QueueSettings]) -> Request[None]:
    """Changes the given settings of the queue, which is created by its first use. What is left out stays, and None removes a setting. They
    apply at once, for every worker. What you read as `settings` of a queue is what sets them. docs/limits.md describes each.

    {QueueSettings}

    Raises TypeError for an unknown setting, Error (OPTION_TYPE, OPTION_RANGE; QUEUE_NOT_EMPTY if `key_order` changes while jobs have not
    ended; UNSUPPORTED for settings that exclude each other)."""
    known_options("configure_queue()", settings, SETTINGS)
    changes = {name: None if value is None else mapped(name, SETTINGS[name][1], value) for name, value in settings.items()}
    return asked("configure", nothing, queue=queue, changes={CAMEL.get(name, name): value for name, value in changes.items()})


def pause_queue(queue: str, *, name: Optional[str] = None, key: Optional[str] = None, duration: Optional[Seconds] = None) -> Request[None]:
    """Starts no more jobs of the queue, or only none of one name or one concurrency key in it, until `resume_queue`, or for `duration`
    ({pause.for}): of two pauses the later end counts. What runs is left alone. Raises Error (QUEUE_NOT_FOUND)."""
    return _paused(True, queue, name, key, duration)


def resume_queue(queue: str, *, name: Optional[str] = None, key: Optional[str] = None) -> Request[None]:
    """Undoes `pause_queue` of the same parts; without parts it also ends `drain_queue`. Raises Error (QUEUE_NOT_FOUND)."""
    return _paused(False, queue, name, key)


def _paused(paused: bool, queue: Any, name: Any, key: Any, duration: Any = None) -> Request[None]:
    if name is not None and key is not None:
        raise type_error("key", "left out with a name: a pause is of a queue, of a name in it, or of a key in it")
    return asked("pause", nothing, queue=queue, name=name, key=key, paused=paused, existing=True, duration=duration)


def pause_all() -> Request[None]:
    """Starts nothing of any queue, until `resume_all`."""
    return asked("pauseAll", nothing, paused=True)


def resume_all() -> Request[None]:
    """Undoes `pause_all`, but no queue's own pause."""
    return asked("pauseAll", nothing, paused=False)


def drain_queue(queue: str, timeout: Optional[Seconds] = None) -> Patient[None]:
    """Refuses new jobs of the queue (QUEUE_DRAINING) until `resume_queue`. Returns when none is left that has not ended. Raises Error
    (DRAIN_INCOMPLETE) if it is resumed before, and TimeoutError after `timeout` seconds, by default never: the queue then continues
    to drain, as it does after ConnectionLost, and a further call waits again."""
    what = "the queue %s was not empty" % (queue,)
    return Patient("drainQueue", scalar("queue", queue), read=nothing, what=what, timeout=timeout, again=False)


def purge_queue(queue: str, states: Optional[Iterable[str]] = None, *, dry_run: bool = False) -> Steps[PurgeResult]:
    """Removes the queue's jobs, at most {sliceRows} in one commit: those in `states`, by default all but 'active'. Running jobs are kept and
    counted. `dry_run` counts, and removes nothing."""
    if not isinstance(queue, str):
        raise type_error("queue", "the name of a queue, got %r" % (queue,))
    wanted = PURGED_STATES if states is None else listed("states", states)
    places = sorted({choice("states", state, PURGED_STATES) for state in wanted})
    if not places:
        raise type_error("states", "at least one of %s, got none" % ", ".join(PURGED_STATES))
    counts_only, found = flag("dry_run", dry_run), asked("queues", lambda found: dict(found[0]["states"]) if found else {}, name=queue)
    before = yield found
    counts: Dict[str, int] = {}
    for state in (PURGED_STATES[place] for place in places):
        if counts_only:
            counts[state] = before.get(state, 0)
        else:
            first = asked("deleteMany", _slice, filter=filter_fields({"queue": queue, "state": state}))
            counts[state] = (yield from _run(first, None, None)).changed
    after = before if counts_only else (yield found)
    return PurgeResult(counts, sum(counts.values()), after.get("active", 0))


def delete_queue(queue: str) -> Request[bool]:
    """Forgets an empty queue: its settings, pauses and counters. False if there was none. Raises Error (QUEUE_NOT_EMPTY)."""
    return asked("deleteQueue", bool, queue=queue)


def stop_worker(worker: str, timeout: Seconds = 30.0) -> Request[None]:
    """Makes every worker with that id, in any process, stop as by its own `stop`: it gets no more jobs, and what runs has `timeout`
    ({stopWorker.timeout}). `workers` has it until it has left. Raises Error (WORKER_NOT_FOUND)."""
    return asked("stopWorker", nothing, worker=worker, timeout=timeout)


def delete_export(name: str) -> Request[bool]:
    """Keeps nothing for the export any longer; its readers get an error. False if there was none."""
    return asked("deleteExport", bool, name=name)


def backup(file: str) -> Request[int]:
    """Writes a copy of the database to a new file while the engine works on, and returns its bytes. `file` is a path on the server, of
    {backup.file}. Raises Error (OPTION_TYPE, OPTION_RANGE, UNSUPPORTED on Postgres)."""
    return asked("backup", lambda said: int(said["bytes"]), file=file)
