"""What the tests have in common: the vectors, and a connection that says what a test says."""

import json
import math
import pathlib
import threading
import time

from millrace import _schema, codec, messages

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
    known.update(priority=0, weight=1, run_at=1, timeout=1000, heartbeat_timeout=0, **fields)
    return _schema.Grant(**{**dict.fromkeys(_schema.Grant._fields), **known})
