"""The durable calls of a run. A handler runs again from its beginning after each wait and each failure, and gets the results that were
recorded before, by their names and in the order in which they came. So it takes the same way again.

Nothing here knows a connection, a clock or an event loop: the methods at the end of `Replay` are all that it needs. A turn lies before each
delivery, live and on replay, also if nothing is between: `_turn` delivers one result, and plans the next.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Union

from ._schema import RECORDED_KINDS, WAITS_PER_JOB
from .data import decode_data
from .encoding import trimmed
from .errors import Error, StepFailedError, StepsChangedError
from .failures import Fail, as_read
from .order import Call, Entry, Order, Row

# Kinds of calls that end a run until something happens.
WAITS = frozenset(("sleep", "message"))
# The seconds that a run waits for its handler to ask for a result that is due.
CHANGED_AFTER = 1.0
# Ends of a run by its durable calls, beside errors: a wait, and a worker that stops.
ASLEEP, GIVEN_BACK = "asleep", "given back"
Then = Callable[[Any], None]


class Replay:
    """`is_first`: the first run of a job has recorded nothing."""

    def __init__(self, is_first: bool) -> None:
        self._order = Order()
        self.is_known, self.is_dead, self.has_recorded = is_first, False, False
        # How often the job was retried from its start, and how many results earlier runs have recorded.
        self.generation, self._earlier = 0, 0
        self._names: Set[str] = set()
        self._open: Dict[str, Call] = {}
        # Calls that wait until earlier results are known, or until a recorded one that is due was asked for.
        self._held: List[Call] = []
        # The number of calls whose function runs, or whose result is being committed.
        self._running = 0
        self._waits: Dict[str, Call] = {}
        self._has_new_wait = self._is_wait_sent = self._is_planned = self._is_leaving = False
        # Results that come while waits are sent: their numbers would collide.
        self._unsent: List[Callable[[], None]] = []
        self._failure: Optional[BaseException] = None
        self._watched: Optional[str] = None
        self._cancel_wake: Callable[[], None] = lambda: None
        self._cancel_watch = self._cancel_wake

    @property
    def is_repeating(self) -> bool:
        """True until all results that earlier runs have recorded are delivered: the handler is where one of them has been."""
        return self._order.front < self._earlier

    @property
    def unasked(self) -> Optional[str]:
        """The name of a recorded result that the handler has not asked for."""
        return getattr(self._order.unasked(), "name", None)

    def ask(self, name: str, kind: str, future: Any, fn: Any, wait: List[Any]) -> Call:
        """Begins a durable call. Raises Error (OPTION_TYPE)."""
        if name in self._names:
            message = "the handler has asked for %r before: a name occurs once in a job, so put the index of a loop into it"
            raise Error("OPTION_TYPE", message % name, {"option": "name"})
        self._names.add(name)
        call = Call(name, kind, self._order.delivered + 1, future, fn, wait)
        if not self.is_dead:
            self._open[name] = call
            if self.is_known or self._is_over:
                self._admit(call)
            else:
                self._held.append(call)
                if len(self._held) == 1:
                    self._load([], 0)
        return call

    def leave(self) -> None:
        """Gives the run back as soon as no step runs: at once if the handler waits for a durable call, otherwise at its next one."""
        self._is_leaving = True
        self.look()

    def look(self) -> None:
        """Looks a turn later at what is to be done: until then other branches of the handler may ask for results, too."""
        if not self._is_planned and not self.is_dead:
            self._is_planned = True
            self._after_turn(self._planned)

    def messaged(self) -> None:
        """Asks the engine for the open waits again: a message has come."""
        self._has_new_wait = True
        self.look()

    def close(self) -> None:
        """Ends all calls: the run is over. None of them leaves a result."""
        self.is_dead = True
        self._cancel_wake()
        self._cancel_watch()

    def end(self, reason: Union[str, BaseException]) -> None:
        if not self.is_dead:
            self.close()
            self._ended(reason)

    # How a step ends.

    def record(self, call: Call, started_at: int, value: Any, told: Optional[List[Any]] = None) -> None:
        """Stores its result, or its failure as `failure` tells it."""
        if self._is_wait_sent:
            self._unsent.append(lambda: self.record(call, started_at, value, told))
        elif not self.is_dead:
            number, kind = self._order.settled + 1, RECORDED_KINDS.index(call.kind)
            row = {"number": number, "asked": call.asked, "name": call.name, "kind": call.kind, "value": value}
            entry = self._order.push({**row, "error": told and as_read(told)}, call, False)
            self._request(lambda _: self._recorded(entry), "step", number, call.asked, call.name, kind, started_at, value, told)

    def _recorded(self, entry: Entry) -> None:
        entry.is_committed = self.has_recorded = True
        self.drop()

    def fail(self, error: BaseException) -> None:
        """Ends the run as soon as no other step runs: a later run tries the step again."""
        if self._failure is None:
            self._failure = error
        self.drop()

    def drop(self) -> None:
        """Notes that it no longer runs: it has its result, or leaves none."""
        self._running -= 1
        self.look()

    # What is to be done.

    def _load(self, rows: List[Row], after: int) -> None:
        def page(said: Mapping[str, Any]) -> None:
            rows.extend(said["results"])
            if said.get("next") is None:
                self._loaded(rows, said["waits"], said["generation"])
            else:
                self._load(rows, said["next"])

        self._request(page, "recorded", after)

    def _loaded(self, rows: List[Row], waits: List[Row], generation: int) -> None:
        self.generation, self._earlier, self.is_known = generation, len(rows), True
        self._order.add(rows)
        self._order.expect(waits)
        held, self._held = self._held, []
        for call in held:
            self._admit(call)

    def _admit(self, call: Call) -> None:
        entry, opened = self._order.named(call.name), self._order.ask(call.name)
        is_open = opened is not None
        is_held = call.kind == "change" or not self._order.is_delivered or bool(self._held) or self._order.is_missed()
        if self._is_over:
            self.look()
        elif (entry is not None and entry.kind != call.kind) or (is_open and call.kind != opened):
            self.end(StepsChangedError(call.name, call.name))
        elif entry is not None:
            entry.call = call
            self.look()
        elif is_held and not is_open:
            self._held.append(call)
            self.look()
        elif is_open or not call.is_over:
            self._start(call)

    def _start(self, call: Call) -> None:
        if call.kind in WAITS and len(self._waits) >= WAITS_PER_JOB:
            message = "a job has at most %d open waits, those that have lost a race included: let some end before it asks for others"
            details = {"option": call.kind, "limit": WAITS_PER_JOB}
            self._settle(call, None, Error("OPTION_RANGE", message % WAITS_PER_JOB, details))
        elif call.kind in WAITS:
            self._waits[call.name] = call
            self._has_new_wait = True
            self.look()
        elif call.kind == "change" and self._order.is_missed():
            self._settle(call, False)
        else:
            self._running += 1
            if call.kind == "change":
                self.record(call, self._now(), "true")
            else:
                self._run(call)

    @property
    def _is_over(self) -> bool:
        """True if the run ends as soon as no step runs."""
        return self._is_leaving or self._failure is not None

    def _planned(self) -> None:
        self._is_planned = False
        if not self.is_dead and not self._is_wait_sent:
            self._turn()

    def _turn(self) -> None:
        if self.is_known and not self._is_over:
            self._start_held()
        # What is recorded comes before a failure: a handler that returns with it has not failed.
        entry = None if self._is_leaving or self.is_dead else self._order.next()
        if entry is not None:
            self._deliver(entry)
        elif self._is_over:
            if self._running == 0 and any(not call.is_over for call in self._open.values()):
                self.end(GIVEN_BACK if self._failure is None else self._failure)
        elif not self._held and (self._running == 0 or self._has_new_wait) and any(not call.is_over for call in self._waits.values()):
            self._send_waits()

    def _start_held(self) -> None:
        """Starts the calls that are held, unless a result that is due has yet to be asked for; or the handler is about to get one that an
        earlier run has got, and with which it may cancel them."""
        due, held = self._order.due(), [call for call in self._held if not call.is_over]
        is_early = self.is_repeating and self._order.next() is not None
        self._held = [call for call in held if (is_early or due is not None) and call.kind != "change"]
        for call in held:
            if call not in self._held:
                self._start(call)
        is_stuck = self._order.next() is None and self._order.asked() is not None
        self._watch(due if self._held or is_stuck else None)

    def _watch(self, due: Optional[str]) -> None:
        """Ends the run if this result is not asked for soon."""
        if due != self._watched:
            self._cancel_watch()
            self._watched, self._cancel_watch = due, lambda: None
            if due is not None:
                self._cancel_watch = self._timer(CHANGED_AFTER, lambda: self._changed(due))

    def _changed(self, due: Optional[str]) -> None:
        if due is not None and due == self._watched:
            waiting = self._held[0] if self._held else self._order.asked()
            self.end(StepsChangedError(due if waiting is None else waiting.name, due))

    def _deliver(self, entry: Entry) -> None:
        call, value, error = entry.call, entry.value, entry.error
        self._order.deliver(entry)
        self.look()
        if call is not None and error is not None:
            self._settle(call, None, StepFailedError(entry.name, error))
        elif call is not None:
            try:
                self._settle(call, decode_data(value))
            except ValueError as cause:
                self._settle(call, None, Fail("the stored result of %r is not JSON: %s" % (entry.name, cause)))

    def _settle(self, call: Call, value: Any, error: Optional[Exception] = None) -> None:
        self._open.pop(call.name, None)
        if not call.is_over and error is None:
            call.future.set_result(value)
        elif not call.is_over:
            call.future.set_exception(error)

    def _send_waits(self) -> None:
        """The run ends with them if nothing else is to be done, and none is over."""
        self._is_wait_sent, self._has_new_wait = True, False
        self._cancel_wake()
        waits = [trimmed([call.name, call.asked, *call.wait]) for call in self._waits.values()]
        self._request(self._waited, "wait", self._order.settled, waits, self._running == 0)

    def _waited(self, answer: Mapping[str, Any]) -> None:
        self._is_wait_sent = False
        results: List[Row] = answer["results"]
        if answer["ended"]:
            return self.end(ASLEEP)
        self._order.add(results, self._waits.get)
        for row in results:
            self._waits.pop(row["name"], None)
        unsent, self._unsent = self._unsent, []
        for send in unsent:
            send()
        if answer.get("next") is not None and self._waits:
            self._cancel_wake = self._timer(answer["next"] / 1000, self.messaged)
        self.has_recorded = self.has_recorded or bool(results)
        self.look()

    # What it needs. All of them call back where the handler makes its durable calls, and never at once.

    def _request(self, then: Then, op: str, *fields: Any) -> None:
        """Calls back with the engine's answer. What the engine refuses ends the run."""
        raise NotImplementedError

    def _run(self, call: Call) -> None:
        """Calls the function of a step, whose end is said by `record`, `fail` or `drop`."""
        raise NotImplementedError

    def _after_turn(self, then: Callable[[], None]) -> None:
        """Calls back when the handler has done all that it does with what it has got."""
        raise NotImplementedError

    def _timer(self, seconds: float, then: Callable[[], None]) -> Callable[[], None]:
        """Returns how to cancel it."""
        raise NotImplementedError

    def _now(self) -> int:
        """Returns wall time in milliseconds."""
        raise NotImplementedError

    def _ended(self, reason: Union[str, BaseException]) -> None:
        """Called once, if the run ends by its durable calls: with ASLEEP, GIVEN_BACK, a StepsChangedError, or the error of a step or of the
        engine."""
        raise NotImplementedError
