"""What names a job."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import NamedTuple, Optional, Union


class JobKey(NamedTuple):
    """The three parts of a job's id. `str()` of it is the id, a UUID; `JobKey.parse` makes it of an id."""

    seq: int
    node: int
    enqueued_at: int

    def __str__(self) -> str:
        # Where a producer's journal made the id, its number and the job's place in it are both in `node`.
        seq, node = (self.node >> 26, self.node & 0x3FFFFFF) if self.node >> 26 else (self.seq, self.node)
        bits = self.enqueued_at << 80 | 7 << 76 | (seq >> 36) << 64 | 2 << 62 | (seq >> 22 & 0x3FFF) << 48
        return str(uuid.UUID(int=bits | (seq & 0x3FFFFF) << 26 | node))

    @classmethod
    def parse(cls, id: str) -> JobKey:
        """Raises ValueError if it is no UUID."""
        bits = uuid.UUID(id).int
        seq = (bits >> 64 & 0xFFF) << 36 | (bits >> 48 & 0x3FFF) << 22 | (bits >> 26 & 0x3FFFFF)
        return cls(seq, bits & 0x3FFFFFF, bits >> 80)


@dataclass(frozen=True)
class JobOfKey:
    """A job by its name and a key that it was enqueued with: `unique_key`, which names the live job that holds it, or `idempotency_key`, which names
    its first job while the key is held. Give one of them."""

    name: str
    unique_key: Optional[str] = None
    idempotency_key: Optional[str] = None


# A job by its key, or by its id as a string.
JobId = Union[JobKey, str]
# What calls about one job take.
JobRef = Union[JobKey, str, JobOfKey]
