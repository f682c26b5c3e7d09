"""What a fork leaves to the child: sockets that are its parent's, and locks that no thread of it releases."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    def forked(self) -> None:
        """Called in the child, before it continues: gives up what is the parent's, without a word on its connection."""


_living: weakref.WeakSet[Forked] = weakref.WeakSet()


def tell_in_children(each: Forked) -> None:
    _living.add(each)


def _tell() -> None:
    for each in list(_living):
        each.forked()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tell)
