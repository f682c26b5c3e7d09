"""The order in which a handler gets the results of its durable calls: the same in each run of a job.

A result is delivered only after all that had settled while it was open: those with numbers from its `asked` to its own that exist. Then
races end as they have ended before.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional

Row = Mapping[str, Any]


class Call:
    """A durable call of a handler. `asked` is one more than the number of the last result that the handler had got. `future` has the
    result, or is cancelled. `fn` is the function of a step, and `wait` has the fields of a wait."""

    def __init__(self, name: str, kind: str, asked: int, future: Any, fn: Any, wait: List[Any]) -> None:
        self.name, self.kind, self.asked, self.future, self.fn, self.wait = name, kind, asked, future, fn, wait

    @property
    def is_over(self) -> bool:
        """True if it has its result, or nobody waits for it."""
        return bool(self.future.done())


class Entry:
    """A recorded result. `call` asks for it. `is_committed` is False while it is on its way to the engine: later results are not delivered
    before it."""

    def __init__(self, row: Row, call: Optional[Call], is_committed: bool) -> None:
        self.number, self.asked, self.name, self.kind = (row[field] for field in ("number", "asked", "name", "kind"))
        self.value, self.error = row.get("value"), row.get("error")
        self.call, self.is_committed, self.is_delivered = call, is_committed, False


def _nobody(name: str) -> Optional[Call]:
    return None


class Order:
    def __init__(self) -> None:
        # The numbers of the last result, and of the last one that was delivered.
        self.settled = self.delivered = 0
        self._by_name: Dict[str, Entry] = {}
        # By their numbers. All before `front` are delivered.
        self._entries: List[Entry] = []
        self.front = 0
        # Entries that nobody had asked for when they came; the one that is due first is the last.
        self._unasked: List[Entry] = []
        # Waits that earlier runs have opened, and that nobody has asked for yet.
        self._expected: Dict[str, Row] = {}

    @property
    def is_delivered(self) -> bool:
        return self.front == len(self._entries)

    def add(self, rows: Iterable[Row], call_of: Callable[[str], Optional[Call]] = _nobody) -> None:
        """Adds results of earlier runs, or of waits, by their numbers. `call_of` returns the calls that ask for them already."""
        entries = [self.push(row, call_of(row["name"]), True) for row in rows]
        self._unasked += [entry for entry in entries if entry.call is None]
        self._unasked.sort(key=lambda entry: (-entry.asked, -entry.number))

    def expect(self, waits: Iterable[Row]) -> None:
        """Notes waits that earlier runs have opened: results that have yet to come."""
        self._expected.update((wait["name"], wait) for wait in waits)

    def ask(self, name: str) -> Optional[str]:
        """Notes that the handler asks for a call. Returns the kind of the wait of that name that an earlier run has opened."""
        wait = self._expected.pop(name, None)
        return None if wait is None else "sleep" if wait.get("message") is None else "message"

    def push(self, row: Row, call: Optional[Call], is_committed: bool) -> Entry:
        """Adds the next result."""
        entry = Entry(row, call, is_committed)
        self._by_name[entry.name] = entry
        self._entries.append(entry)
        self.settled = entry.number
        return entry

    def named(self, name: str) -> Optional[Entry]:
        return self._by_name.get(name)

    def next(self) -> Optional[Entry]:
        """Returns the result that is delivered next: the first before which nothing is missing that had settled while it was open."""
        missing = 0
        for place in range(self.front, len(self._entries)):
            entry = self._entries[place]
            if not entry.is_delivered:
                if entry.call is not None and entry.is_committed and missing < entry.asked:
                    return entry
                missing = entry.number
        return None

    def deliver(self, entry: Entry) -> None:
        """Notes that the handler has got it."""
        entry.is_delivered, entry.call, entry.value = True, None, None
        self.delivered = max(self.delivered, entry.number)
        while not self.is_delivered and self._entries[self.front].is_delivered:
            self.front += 1

    def due(self) -> Optional[str]:
        """Returns what the handler should have asked for by now: it has got all that it had got when it asked before."""
        front = float("inf") if self.is_delivered else self._entries[self.front].number
        entry = self.unasked()
        if entry is not None and front >= entry.asked:
            return str(entry.name)
        return next((name for name, wait in self._expected.items() if front >= wait["asked"]), None)

    def is_missed(self) -> bool:
        """Returns True if an earlier run has asked for something that the handler has not asked for."""
        return self.unasked() is not None or bool(self._expected)

    def unasked(self) -> Optional[Entry]:
        """Returns the result that nobody asks for and that is due first."""
        while self._unasked and (self._unasked[-1].call is not None or self._unasked[-1].is_delivered):
            self._unasked.pop()
        return self._unasked[-1] if self._unasked else None

    def asked(self) -> Optional[Entry]:
        """Returns a result that was asked for, and that has not been delivered."""
        return next((entry for entry in self._entries[self.front :] if entry.call is not None), None)
