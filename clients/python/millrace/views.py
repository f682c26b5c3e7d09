"""What calls return. The classes of answers are written from the engine's tables; these are what several answers, or a flow, make up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List

from ._figures import *
from ._views import *
from .keys import JobKey


@dataclass(frozen=True)
class Batch:
    """What `batch` has created. `id` is that of its flow; `jobs` are the keys in the order of the list; `callbacks` are those by 'callback',
    'on_success', 'on_failure' and 'on_end'."""

    id: str
    jobs: List[JobKey]
    callbacks: Dict[str, JobKey]


@dataclass(frozen=True)
class ManyResult:
    """What a bulk call has done, or with `dry_run` would do: jobs that matched, and of them those that changed. `skipped` counts the others by
    reason: a state, 'cancelling', 'uniqueConflict', 'parentFailed', 'ambiguousRetry' or 'notFound'."""

    matched: int
    changed: int
    skipped: Dict[str, int]


@dataclass(frozen=True)
class PurgeResult:
    """What `purge_queue` has removed, by state and in all (`count`), or with `dry_run` would remove. `active` jobs run: they are left."""

    states: Dict[str, int]
    count: int
    active: int
