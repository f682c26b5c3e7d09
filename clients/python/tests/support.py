"""What the tests have in common: the vectors, and a connection that says what a test says."""

import json
import math
import pathlib
import threading
import time
from concurrent.futures import Future

import millrace
from millrace import _schema, codec, messages, runs

ROOT = pathlib.Path(__file__).resolve().parents[3]
VECTORS = ROOT / "packages" / "wire" / "vectors"
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text("utf-8")
LIMITS = _schema.Limits(17 * 2**20, 10_000, 8 * 2**20, 15_000, 45_000, 2**20)


def revive(value):
    """What JSON cannot say."""
    if "$bytes" in value:
        return bytes.fromhex(value["$bytes"])
    return math.inf if "$number" in value else value


def vectors(*, error=False):
    for file in sorted(VECTORS.glob("*.json")):
        for vector in json.loads(file.read_text("utf-8"), object_hook=revive)["vectors"]:
            if ("error" in vector) == error and "refusal" not in vector:
                yield vector


class Wire:
    """A connection that keeps what is said on it, and says what the test says."""

    def __init__(self, limits=LIMITS):
        self.limits, self.hello_sent = limits, time.monotonic()
        self.ended = threading.Event()
        self.said = []
        self.changed = threading.Condition()

    def start(self, on_delivery, on_end):
        self.on_delivery, self.on_end = on_delivery, on_end

    def write(self, *frames):
        names = {code: name for name, code in _schema.OPS.items()}
        with self.changed:
            for each in frames:
                self.said += [(id, names[op], *fields) for id, op, *fields in codec.unpack(each[4:])[1]]
            self.changed.notify_all()

    def send(self, type, *fields):
        if type == _schema.REQUESTS:
            self.write(messages.frame(type, *fields))

    def close(self):
        self.ended.set()

    def deliver(self, *replies, grants=(), notices=()):
        self.on_delivery(_schema.Delivery(0, list(replies), list(grants), list(notices), []))


def grant(seq, run=1, **fields):
    known = dict(session="s", seq=seq, node=1, enqueued_at=1, name="a", queue="default", run=run, attempt=1, max_attempts=4)
    known.update(priority=0, weight=1, run_at=1, timeout=1000, heartbeat_timeout=0)
    known.update(fields)
    return _schema.Grant(**{**dict.fromkeys(_schema.Grant._fields), **known})


class Engine:
    """The engine of one job: its results, open waits with their ends, and a clock that goes on when the job sleeps."""

    def __init__(self):
        self.results, self.ends, self.asked, self.calls = [], {}, {}, {}
        self.now = self.generation = 0
        self.wrong = []
        self.refusal = None
        # Kept messages by their names, and the messages that open waits are for.
        self.kept, self.awaited = {}, {}

    def answer(self, op, fields):
        if self.refusal is not None:
            raise self.refusal
        return {"recorded": self.recorded, "step": self.step, "wait": self.wait}[op](*fields)

    def recorded(self, after):
        """Three results in a page."""
        rows = sorted((row for row in self.results if row["number"] > after), key=lambda row: row["number"])
        waits = [{"name": name, "asked": self.asked[name], "message": self.awaited.get(name)} for name in self.ends]
        return {"results": rows[:3], "next": rows[2]["number"] if len(rows) > 3 else None, "generation": self.generation, "waits": waits}

    def step(self, number, asked, name, kind, started_at, value, told):
        row = {"number": number, "asked": asked, "name": name, "kind": _schema.RECORDED_KINDS[kind], "value": value}
        self.results.append({**row, "error": told and {"name": told[0], "message": told[1]}})
        return True

    def wait(self, settled, waits, end):
        # Results before it may be on their way.
        if settled < max((row["number"] for row in self.results), default=0):
            self.wrong.append("a wait has the number of a result")
        for name, asked, *wait in waits:
            delay, until, message = (*wait, None, None, None)[:3]
            at = self.now + delay if delay is not None else math.inf if until is None else until
            self.ends.setdefault(name, at)
            self.asked.setdefault(name, asked)
            if message is not None:
                self.awaited[name] = message
        self.now += 1
        results = self.due(settled)
        return {"results": results, "ended": end and not results, "next": 1}

    def due(self, settled):
        got = {name: self.kept[self.awaited[name]].pop(0) for name in self.ends if self.kept.get(self.awaited.get(name))}
        over = sorted((name for name, at in self.ends.items() if at <= self.now and name not in got), key=lambda name: self.ends[name])
        rows = []
        for place, name in enumerate([*got, *over]):
            del self.ends[name]
            kind = "message" if name in self.awaited else "sleep"
            rows.append({"number": settled + place + 1, "asked": self.asked[name], "name": name, "kind": kind, "value": got.get(name)})
        self.results += rows
        return rows

    def send(self, message, value):
        """Wakes the job if it waits for the message, and keeps the message otherwise."""
        self.kept.setdefault(message, []).append(value)

    def wake(self):
        if self.ends:
            self.now = max(self.now, min(self.ends.values()))
            self.due(max((row["number"] for row in self.results), default=0))


class Recorder:
    """A worker as the context of a run sees it. The engine answers at once."""

    _stopping = False

    def __init__(self, engine):
        self.engine, self.said, self._changed = engine, [], threading.RLock()

    def ask(self, job, op, *fields):
        future = Future()
        try:
            future.set_result(self.engine.answer(op, fields))
        except millrace.Error as error:
            future.set_exception(error)
        return future

    def check(self, what, data, beside=0):
        if len(data or "") > 1_000:
            raise runs.too_large(what, len(data), 1_000)

    def check_size(self, what, size, most):
        pass

    def say(self, job, op, *fields):
        self.said.append((op, *fields))

    suspend = millrace.Worker.suspend
