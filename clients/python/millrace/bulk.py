"""Calls that change many jobs: slice by slice, newest first, so that no turn of the engine is long."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from .errors import Error, type_error
from .filters import filter_fields, id_list, many_filter
from .messages import trimmed
from .operations import REASON_LENGTH, Request, Steps, called
from .options import NAME_LENGTH, choice, flag, given, integer, key, meta_text, name as valid_name, tag_list, text, time_ms
from .views import ManyResult, PurgeResult

SLICE = 500
IDS_PER_SLICE = 100
PURGED_STATES = ("blocked", "scheduled", "waiting", "completed", "failed", "cancelled")


@called
def cancel_many(filter: Any, reason: Any, by: Any, limit: Any, dry_run: Any) -> Steps[ManyResult]:
    return _many("cancelMany", filter, limit, dry_run, text("reason", reason, REASON_LENGTH), text("by", by, NAME_LENGTH))


@called
def retry_many(filter: Any, limit: Any, dry_run: Any) -> Steps[ManyResult]:
    return _many("retryMany", filter, limit, dry_run)


@called
def delete_many(filter: Any, limit: Any, dry_run: Any) -> Steps[ManyResult]:
    return _many("deleteMany", filter, limit, dry_run)


@called
def run_now_many(filter: Any, limit: Any, dry_run: Any) -> Steps[ManyResult]:
    return _many("runNowMany", filter, limit, dry_run)


@called
def update_many(
    filter: Any, run_at: Any, priority: Any, weight: Any, tags: Any, meta: Any, limit: Any, dry_run: Any
) -> Steps[ManyResult]:
    changes = place_changes(run_at, priority, weight, tags, meta)
    if not changes:
        raise type_error("changes", "given: run_at, priority, weight, tags or meta")
    return _many("updateMany", filter, limit, dry_run, changes)


def place_changes(run_at: Any, priority: Any, weight: Any, tags: Any, meta: Any) -> List[Any]:
    place = [time_ms("run_at", run_at), integer("priority", priority, -1_000_000, 1_000_000), integer("weight", weight, 1, 1_000_000)]
    return trimmed([*place, tag_list(tags), meta_text(meta)])


@called
def purge_queue(queue: Any, states: Any, dry_run: Any) -> Steps[PurgeResult]:
    wanted = valid_name("queue", given("queue", queue))
    if states is None:
        purged: Sequence[str] = PURGED_STATES
    elif isinstance(states, (str, bytes, Mapping)) or not hasattr(states, "__iter__"):
        raise type_error("states", "a list of some of %s, got %r" % (", ".join(PURGED_STATES), states))
    else:
        places = {choice("states", state, PURGED_STATES) for state in states}
        if not places:
            raise type_error("states", "at least one of %s, got none" % ", ".join(PURGED_STATES))
        purged = [PURGED_STATES[place] for place in sorted(places)]
    return _purge(wanted, purged, bool(flag("dry_run", dry_run)))


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


def _many(op: str, wanted: Any, limit: Any, dry_run: Any, *more: Any) -> Steps[ManyResult]:
    said, fields = many_filter(wanted)
    ids = None if said.get("ids") is None else id_list(said["ids"])
    most = integer("limit", limit, 1, 2**53 - 1)
    return _run(op, fields, key("search", said.get("search")), ids, most, bool(flag("dry_run", dry_run)), more)


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
