"""A producer and a worker for Millrace in one file: the standard library alone, Python 3.8 or newer.

    import millrace

    with millrace.connect("unix:/run/app/jobs.sock") as client:
        job = client.enqueue("resize", {"path": "a.png"})     # on disk when it returns
        print(client.result(job, timeout=60))

    def resize(job):
        return {"from": job.data["path"], "attempt": job.attempt}

    millrace.Worker("unix:/run/app/jobs.sock", {"resize": resize}, concurrency=4).run()

Addresses are `unix:/path` and `tcp://host:port`. Durations are in seconds, as Python has them. The protocol is written down in
docs/protocol.md, and the names of its parts are the names here.
"""

import difflib
import errno
import hashlib
import json
import math
import os
import random
import re
import socket
import struct
import threading
import time
import traceback
import uuid
from collections import namedtuple
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from decimal import Decimal

__all__ = [
    "Cancel", "Client", "ConnectionLost", "Error", "Fail", "Job", "JobKey", "Parent", "ProtocolError", "Retry", "Snooze", "Worker", "connect",
    "new_job", "unique_key",
]

LIBRARY = "millrace-python 1"
VERSIONS = (1, 1)


class Error(Exception):
    """What the server refuses, by its stable code: see the table of errors in docs/protocol.md."""

    def __init__(self, code, message, details=None):
        super().__init__("%s: %s" % (code, message))
        self.code = code
        self.message = message
        self.details = details or {}


class ConnectionLost(Error):
    """The call may have happened: repeat it with the same idempotency key."""

    def __init__(self, message, code="CONNECTION_LOST", retry_after=0.0):
        super().__init__(code, message)
        # Seconds; None: it is of no use to come back.
        self.retry_after = retry_after


class ProtocolError(Error):
    """The other end sent what is no message."""

    def __init__(self, message, code="BAD_FRAME"):
        super().__init__(code, message)


# MessagePack: nil, booleans, integers of 53 bits, float64, str, bin, arrays, maps with string keys.

SAFE = 2**53 - 1
DEPTH_MAX = 12  # of a message: a value at most 8 deep, in a reply, in a delivery
ITEMS_MAX = 250_000
KEYS_MAX = 256
UNSAFE_KEYS = ("__proto__", "constructor", "prototype")
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
HALF = re.compile("[\ud800-\udfff]")


def pack(value):
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value, out):
    if value is None:
        out.append(0xC0)
    elif value is True:
        out.append(0xC3)
    elif value is False:
        out.append(0xC2)
    elif isinstance(value, (int, float)):
        _pack_number(value, out)
    elif isinstance(value, str):
        data = _utf8(value)
        _pack_head(len(data), out, (0xA0, 31), 0xD9, 0xDA, 0xDB)
        out += data
    elif isinstance(value, (bytes, bytearray, memoryview)):
        _pack_head(len(value), out, None, 0xC4, 0xC5, 0xC6)
        out += value
    elif isinstance(value, (list, tuple)):
        _pack_head(len(value), out, (0x90, 15), None, 0xDC, 0xDD)
        for item in value:
            _pack(item, out)
    elif isinstance(value, dict):
        _pack_head(len(value), out, (0x80, 15), None, 0xDE, 0xDF)
        for key, item in value.items():
            _pack(key, out)
            _pack(item, out)
    else:
        raise TypeError("a %s has no form in a message" % type(value).__name__)


def _pack_number(value, out):
    if isinstance(value, float) and not (value.is_integer() and abs(value) <= SAFE):
        if math.isnan(value):
            raise ValueError("NaN has no form in a message")
        out += struct.pack(">Bd", 0xCB, value)
        return
    value = int(value)
    if abs(value) > SAFE:
        raise ValueError("%d has more than 53 bits" % value)
    if -32 <= value < 128:
        out += struct.pack(">b", value)
        return
    sizes = ((0xCC, "B", 8), (0xCD, "H", 16), (0xCE, "I", 32), (0xCF, "Q", 64))
    if value < 0:
        sizes = ((0xD0, "b", 7), (0xD1, "h", 15), (0xD2, "i", 31), (0xD3, "q", 63))
    for code, kind, bits in sizes:
        if -(2**bits) <= value < 2**bits:
            out += struct.pack(">B" + kind, code, value)
            return


def _pack_head(length, out, short, code8, code16, code32):
    if short is not None and length <= short[1]:
        out.append(short[0] + length)
    elif code8 is not None and length < 2**8:
        out += struct.pack(">BB", code8, length)
    elif length < 2**16:
        out += struct.pack(">BH", code16, length)
    else:
        out += struct.pack(">BI", code32, length)


def _utf8(text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # Halves of surrogate pairs that belong together are one character; the others have three bytes each.
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "surrogatepass")


def unpack(payload):
    """The one value that the payload holds. Raises ProtocolError; every length is held against what is left."""
    reader = _Reader(payload)
    value = reader.read(0)
    if reader.at != len(payload):
        raise ProtocolError("%d bytes follow the message" % (len(payload) - reader.at))
    return value


class _Reader:
    NUMBERS = {0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q"}
    LENGTHS = {0xD9: "B", 0xDA: "H", 0xDB: "I", 0xC4: "B", 0xC5: "H", 0xC6: "I", 0xDC: "H", 0xDD: "I", 0xDE: "H", 0xDF: "I"}

    def __init__(self, payload):
        self.payload = payload
        self.at = 0

    def read(self, depth):
        code = self.take(1)[0]
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 0x100
        if code < 0x90:
            return self.read_map(code & 15, depth)
        if code < 0xA0:
            return self.read_array(code & 15, depth)
        if code < 0xC0:
            return self.read_text(code & 31)
        if code in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[code]
        if code in self.NUMBERS:
            return self.read_number(self.NUMBERS[code])
        if code not in self.LENGTHS:
            raise ProtocolError("the byte %02x before byte %d: there are no extension types" % (code, self.at))
        kind = self.LENGTHS[code]
        length = struct.unpack(">" + kind, self.take(struct.calcsize(kind)))[0]
        if code in (0xD9, 0xDA, 0xDB):
            return self.read_text(length)
        if code in (0xC4, 0xC5, 0xC6):
            return bytes(self.take(length))
        return self.read_array(length, depth) if code in (0xDC, 0xDD) else self.read_map(length, depth)

    def take(self, length):
        if length > len(self.payload) - self.at:
            raise ProtocolError("%d bytes, where %d are left" % (length, len(self.payload) - self.at))
        self.at += length
        return self.payload[self.at - length : self.at]

    def read_number(self, kind):
        value = struct.unpack(">" + kind, self.take(struct.calcsize(kind)))[0]
        if isinstance(value, int) and abs(value) > SAFE:
            raise ProtocolError("%d has more than 53 bits" % value)
        if isinstance(value, float) and math.isnan(value):
            raise ProtocolError("NaN is no number")
        return value

    def read_text(self, length):
        data = bytes(self.take(length))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise ProtocolError("a string is UTF-8") from None
        if PAIR.search(text):
            raise ProtocolError("a string has a surrogate pair as two halves")
        return text

    def read_array(self, length, depth):
        self.enter(length, ITEMS_MAX, 1, depth)
        return [self.read(depth + 1) for _ in range(length)]

    def read_map(self, length, depth):
        self.enter(length, KEYS_MAX, 2, depth)
        result = {}
        for _ in range(length):
            key = self.read(DEPTH_MAX)
            if not isinstance(key, str) or key in result or key in UNSAFE_KEYS:
                raise ProtocolError("a map has no key %r" % (key,))
            result[key] = self.read(depth + 1)
        return result

    def enter(self, length, most, item_bytes, depth):
        if depth >= DEPTH_MAX:
            raise ProtocolError("arrays and maps at most %d deep" % DEPTH_MAX)
        if length > most or length * item_bytes > len(self.payload) - self.at:
            raise ProtocolError("%d items, where at most %d are allowed and %d bytes are left" % (length, most, len(self.payload) - self.at))


# Messages: arrays of fields, in this order. What is missing at the end is nil.

HELLO, WELCOME, REQUESTS, DELIVERY, PING, PONG, GOODBYE = 1, 2, 3, 4, 5, 6, 7
OPS = {
    name: code + 1
    for code, name in enumerate(
        "enqueue attach drain leave renew complete fail snooze giveBack heartbeat checkpoint progress log get watch unwatch cancel "
        "update retry redrive runNow delete stats workers list subscribe backup forward configure pause queues drainQueue "
        "deleteQueue".split()
    )
}
OPS.update(
    upsertSchedule=40, getSchedule=41, listSchedules=42, deleteSchedule=43, pauseSchedule=44, resumeSchedule=45,
    triggerSchedule=46, events=50, export=51, exports=52, deleteExport=53, flow=56, parents=57, cancelTree=58, retryTree=59,
    cancelMany=61, retryMany=62, deleteMany=63, history=66, failures=67, stopWorker=68, getFlow=69, pauseAll=70,
    listFlows=71, queueKeys=72, runNowMany=73, updateMany=74, adjust=75, byKey=76, getByKey=77, join=78, logs=79, explain=80,
)
TRUE, REFUSAL, ENQUEUED, ATTACHED, VALUE, STATS = 0, 1, 2, 3, 4, 5
ABORT, LOST, REATTACH, GAP, STOP = 1, 2, 3, 4, 5
ABORT_CAUSES = ("timeout", "cancel", "stop")
LOG_LEVELS = ("debug", "info", "warn", "error")
STATES = ("scheduled", "waiting", "active", "blocked", "completed", "failed", "cancelled")
FLOW_STATES = ("running", "completed", "failed", "cancelled")
JOBS_PAGE, LIST_PAGE = 200, 500
ON_CONFLICT = ("skip", "replace", "reschedule", "error")
UNTILS = ("end", "start")
DEBOUNCE_MODES = ("trailing", "leading")
BACKOFFS = ("exponential", "linear", "fixed")
ORDERS = ("fair", "strict")

Welcome = namedtuple("Welcome", "version server node scopes limits")
Limits = namedtuple("Limits", "frame_bytes requests_in_flight bytes_in_flight ping_ms silence_ms data_bytes")
Delivery = namedtuple("Delivery", "renewal replies grants notices events")
Grant = namedtuple(
    "Grant",
    "session seq node enqueued_at name queue run attempt max_attempts priority weight run_at timeout heartbeat_timeout "
    "data checkpoint tags meta concurrency_key joined log_lines",
)
Attached = namedtuple("Attached", "lost disputed order")
Joined = namedtuple("Joined", "name place jobs")

FRAME_BYTES = 64 * 2**20
GREETING_BYTES = 4096


def frame(*message):
    payload = pack(list(message))
    return struct.pack(">I", len(payload)) + payload


def request(id, op, *fields):
    """A request without the nils at its end. Raises Error (OPTION_TYPE) for an operation that there is none of."""
    if op not in OPS:
        raise _type_error("op", "an operation of docs/protocol.md, got %r" % (op,))
    return [id, OPS[op], *_trimmed(fields)]


REQUESTS_MAX = 10_000  # in one message
REQUESTS_HEAD = 5  # bytes before the first of them: an array of two, the type, an array of up to 10,000


def request_frames(requests, frame_bytes):
    """The requests in order, in as many frames as a server takes that has said `frame_bytes`. Raises Error (TOO_LARGE) where one alone
    is more."""
    frames, parts, size = [], [], REQUESTS_HEAD
    for packed in map(pack, requests):
        if REQUESTS_HEAD + len(packed) > frame_bytes:
            message = "the call has %d bytes, and at most %d cross a connection: split it, or keep large content elsewhere"
            raise Error("TOO_LARGE", message % (len(packed), frame_bytes), {"limit": frame_bytes})
        if size + len(packed) > frame_bytes or len(parts) == REQUESTS_MAX:
            frames.append(_requests_frame(parts))
            parts, size = [], REQUESTS_HEAD
        parts.append(packed)
        size += len(packed)
    return [*frames, _requests_frame(parts)]


def _requests_frame(parts):
    out = bytearray((0x92, REQUESTS))
    _pack_head(len(parts), out, (0x90, 15), None, 0xDC, 0xDD)
    payload = bytes(out) + b"".join(parts)
    return struct.pack(">I", len(payload)) + payload


def _trimmed(fields):
    fields = list(fields)
    while fields and fields[-1] is None:
        fields.pop()
    return fields


def _named(kind, fields):
    """An array by the names of its fields: some may be missing, and there may be some that are not known here."""
    if not isinstance(fields, list):
        raise ProtocolError("a %s is an array" % kind.__name__)
    known = len(kind._fields)
    return kind(*(fields + [None] * known)[:known])


def read_message(payload, state):
    """`(type, fields)` of a message that the server may send in that state: `greeting` or `open`."""
    message = unpack(payload)
    if not isinstance(message, list) or not message:
        raise ProtocolError("a message is an array that begins with its type")
    type, fields = message[0], message[1:]
    allowed = (WELCOME, GOODBYE) if state == "greeting" else (DELIVERY, PING, PONG, GOODBYE)
    if type not in range(HELLO, GOODBYE + 1):
        raise ProtocolError("no message has the type %r" % (type,))
    if type not in allowed:
        raise ProtocolError("a server sends no %r while the connection is %s" % (type, state), "BAD_MESSAGE")
    if type == WELCOME:
        welcome = _named(Welcome, fields)
        return type, welcome._replace(limits=_named(Limits, welcome.limits))
    if type == DELIVERY:
        delivery = _named(Delivery, fields[0] if fields else None)
        parts = [part or [] for part in delivery[1:]]
        return type, Delivery(delivery.renewal, parts[0], [_grant(each) for each in parts[1]], parts[2], parts[3])
    if (type in (PING, PONG) and len(fields) < 1) or (type == GOODBYE and len(fields) < 3):
        raise ProtocolError("a field is missing")
    return type, fields


def _grant(fields):
    grant = _named(Grant, fields)
    return grant if grant.joined is None else grant._replace(joined=[_named(Joined, each) for each in grant.joined])


def read_reply(reply):
    """`(id, value, error)` of a reply."""
    if not isinstance(reply, list) or len(reply) < 2:
        raise ProtocolError("a reply has an id and a kind")
    id, kind, fields = reply[0], reply[1], reply[2:] + [None] * 13
    if kind == TRUE:
        return id, True, None
    if kind == REFUSAL:
        return id, None, Error(*fields[:3])
    if kind == ENQUEUED:
        return id, [(JobKey(*each[:3]), each[3]) for each in fields[0]], None
    if kind == ATTACHED:
        return id, Attached([(seq, run) for seq, run, *_ in fields[0] or []], fields[1] or [], fields[2]), None
    if kind == VALUE:
        return id, fields[0], None
    if kind == STATS:
        names = ("queues", "states", "totals", "unserved", "workers", "writer", "names", "paused", "queuesLeftOut", "definitions",
                 "node", "seq", "retrying", "store")
        queues = {name: counts for name, counts, *_ in fields[0]}
        stats = {**dict(zip(names, fields)), "queues": queues, "names": fields[6] or [], "paused": bool(fields[7])}
        return id, {**stats, "definitions": fields[9] or [], "node": fields[10] or 0, "seq": fields[11] or 0}, None
    raise ProtocolError("no reply is of the kind %r" % (kind,))


def read_replies(replies):
    """`(id, value, error)` of each. A reply that cannot be read fails its call (PROTOCOL), and no other."""
    for reply in replies:
        try:
            yield read_reply(reply)
        except (ProtocolError, IndexError, KeyError, TypeError, ValueError) as error:
            if not isinstance(reply, list) or not reply or not isinstance(reply[0], int):
                raise ProtocolError("a reply has an id and a kind") from None
            yield reply[0], None, Error("PROTOCOL", "the answer cannot be read: %s" % error)


# Jobs as they are asked for, and what names them.


class JobKey(namedtuple("JobKey", "seq node enqueued_at")):
    """What names a job. `str()` of it is its id, a UUID; `JobKey.parse` says what requests take, from an id."""

    __slots__ = ()

    def __str__(self):
        # Where a producer's journal made the id, its number and the job's place in it are both in `node`.
        seq, node = (self.node >> 26, self.node & 0x3FFFFFF) if self.node >> 26 else (self.seq, self.node)
        bits = self.enqueued_at << 80 | 7 << 76 | (seq >> 36) << 64 | 2 << 62 | (seq >> 22 & 0x3FFF) << 48
        return str(uuid.UUID(int=bits | (seq & 0x3FFFFF) << 26 | node))

    @classmethod
    def parse(cls, id):
        bits = uuid.UUID(id).int
        seq = (bits >> 64 & 0xFFF) << 36 | (bits >> 48 & 0x3FFF) << 22 | (bits >> 26 & 0x3FFFFF)
        return cls(seq, bits & 0x3FFFFFF, bits >> 80)


def encode_data(value):
    """None for nothing, bytes as they are, all else as JSON."""
    if value is None or isinstance(value, bytes):
        return value
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def decode_data(data):
    return json.loads(data) if isinstance(data, str) else data


def unique_key(data=None):
    """The unique key of data, as `unique: { by: 'data' }` makes it elsewhere: `unique=unique_key(data)`. The key of fields is that of
    a dict of their paths: `unique_key({"customer": "c1", "order.id": 7})`."""
    data = encode_data(data)
    if isinstance(data, str):
        data = _canonical(json.loads(data)).encode("utf-8")
    return "sha256:" + hashlib.sha256(data or b"").hexdigest()


def _canonical(value):
    """JSON as RFC 8785 says: names in the order of their UTF-16 units, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{%s}" % ",".join(_canonical(name) + ":" + _canonical(value[name]) for name in names)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(_canonical, value))
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half[0]), json.dumps(value, ensure_ascii=False))
    return json.dumps(value) if isinstance(value, bool) or value is None else _number_text(value)


def _number_text(value):
    try:
        text = _double_text(float(value))
    except OverflowError:
        raise _range_error("data", 2**53, "sent with the integer %s as a string: a number cannot hold it" % value) from None
    if isinstance(value, int) and float(value) != value and text != str(value):
        raise _range_error("data", 2**53, "sent with the integer %s as a string: it would be stored as %s" % (value, text))
    return text


def _double_text(number):
    if number == 0:
        return "0"
    if number < 0:
        return "-" + _double_text(-number)
    _sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    return "%s%se%+d" % (digits[0], digits[1:] and "." + digits[1:], point - 1)


# Options are held to what the server takes before they are sent: it ends the connection of whoever sends another thing.

DURATION_MS = 100 * 365 * 86_400_000
NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}\Z")
KEY_LENGTH = 512
JOBS_MAX = 10_000
META_LENGTH = 16_384
PROGRESS_LENGTH = 16_384
TAGS_MAX = 32
REASON_LENGTH = 1000
NAME_LENGTH = 128
TEXT_LENGTH = 4096
STACK_LENGTH = 16384
CODE_LENGTH = 128
CAUSE_LENGTH = 1000
CAUSES_MAX = 5


def _type_error(option, message):
    return Error("OPTION_TYPE", "%s must be %s" % (option, message), {"option": option})


def _range_error(option, limit, message):
    return Error("OPTION_RANGE", "%s must be %s" % (option, message), {"option": option, "limit": limit})


def _given(option, value):
    if value is None:
        raise _type_error(option, "given, got None")
    return value


def _number(option, value, least, most):
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise _type_error(option, "a number, got %r" % (value,))
    if not least <= value <= most:
        allowed = "%s or more" % least if most == math.inf else "between %s and %s" % (least, most)
        raise _range_error(option, least if value < least else most, "%s, got %r" % (allowed, value))
    return value


def _integer(option, value, least, most):
    if isinstance(value, float) and not value.is_integer():
        raise _type_error(option, "an integer, got %r" % value)
    return _number(option, value, least, most)


def _ms(option, seconds, least=0, infinite=False):
    """Whole milliseconds, `least` or more; what is longer than a hundred years is as long as that, where there is no `infinite`."""
    if _number(option, seconds, 0, math.inf) is None:
        return None
    if seconds == math.inf and infinite:
        return seconds
    ms = DURATION_MS if seconds * 1000 > DURATION_MS else math.ceil(seconds * 1000 - 1e-6)
    if ms < least:
        raise _range_error(option, least / 1000, "%s seconds or more, got %r" % (least / 1000, seconds))
    return ms


def _time(option, seconds):
    if hasattr(seconds, "timestamp"):
        seconds = seconds.timestamp()
    return None if _number(option, seconds, 0, SAFE // 1000) is None else math.ceil(seconds * 1000 - 1e-6)


def _choice(option, value, choices):
    """Its place among them."""
    if value not in choices:
        raise _type_error(option, "one of %s, got %r" % (", ".join(choices), value))
    return list(choices).index(value)


def _name(option, value):
    if value is not None and not (isinstance(value, str) and NAME.match(value)):
        raise _type_error(option, "1 to 128 of the characters A-Z a-z 0-9 _ . : / -, got %r" % (value,))
    return value


def _queue_pattern(value):
    """The name of a queue, or the beginning of names and an asterisk."""
    if isinstance(value, str) and value.endswith("*"):
        return value if value == "*" else _name("queues", value[:-1]) + "*"
    return _name("queues", value)


def _key(option, value):
    if value is None:
        return None
    if not isinstance(value, str):
        raise _type_error(option, "a string, got %r" % (value,))
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    if not 1 <= units <= KEY_LENGTH:
        raise _range_error(option, KEY_LENGTH, "1 to %d characters, got %d" % (KEY_LENGTH, units))
    if HALF.search(PAIR.sub("", value)):
        raise _type_error(option, "a string without halves of surrogate pairs, got %r" % (value,))
    return value


def _tags(tags):
    if tags is None:
        return None
    if isinstance(tags, str):
        raise _type_error("tags", "a list of strings, got %r" % tags)
    tags = [_key("tags", tag) for tag in tags]
    if len(tags) > TAGS_MAX or None in tags:
        raise _range_error("tags", TAGS_MAX, "at most %d strings, got %r" % (TAGS_MAX, tags))
    return tags or None


def _meta(meta):
    return _json("meta", meta, META_LENGTH, "large content goes into data")


def _json(option, value, length, remedy):
    text = None if value is None else json.dumps(value, separators=(",", ":"), allow_nan=False)
    if text is not None and len(text) > length:
        raise _range_error(option, length, "at most %d characters of JSON, got %d: %s" % (length, len(text), remedy))
    return text


def new_job(
    name,
    data=None,
    *,
    queue=None,
    priority=None,
    delay=None,
    run_at=None,
    idempotency_key=None,
    unique=None,
    max_attempts=None,
    timeout=None,
    heartbeat_timeout=None,
    backoff=None,
    ttl=None,
    idempotency_ttl=None,
    weight=None,
    concurrency_key=None,
    tags=None,
    meta=None,
    debounce=None,
    throttle=None,
    max_age=None,
    tokens=None,
    max_lost=None,
    keep=None,
    log_lines=None
):
    """A job as it is asked for. `unique` is a key or (key, 'skip' | 'replace' | 'reschedule' | 'error'), with 'start' as a third item to
    hold it until the start alone; `run_at` is seconds since 1970 or a datetime; `backoff` is a dict of type, delay, factor, max_delay,
    jitter; `timeout` may be math.inf; `keep` may be 'forever'; `debounce` is a dict of key, delay, mode ('trailing' | 'leading'), max_delay; `throttle` of key,
    period. Raises Error (OPTION_TYPE, OPTION_RANGE), whose details are `option` and the `limit` that it broke."""
    if isinstance(unique, str):
        unique = (unique, "skip")
    fields = [_name("name", _given("name", name)), encode_data(data), _name("queue", queue)]
    fields += [_integer("priority", priority, -1_000_000, 1_000_000)]
    fields += [_ms("delay", delay), _time("run_at", run_at), _key("idempotency_key", idempotency_key)]
    fields.append(unique and _unique(*unique))
    fields += [_integer("max_attempts", max_attempts, 1, 100_000), _ms("timeout", timeout, 1, True)]
    fields += [_ms("heartbeat_timeout", heartbeat_timeout), backoff and _backoff(**backoff)]
    fields += [_ms("ttl", ttl, 1), _ms("idempotency_ttl", idempotency_ttl, 1), _integer("weight", weight, 1, 1_000_000)]
    fields += [_key("concurrency_key", concurrency_key), _tags(tags), _meta(meta)]
    fields += [debounce and _debounce(**debounce), throttle and _throttle(**throttle), _ms("max_age", max_age, 1)]
    fields += [_integer("tokens", tokens, 1, 1_000_000_000), _integer("max_lost", max_lost, 0, 100_000)]
    fields.append(DURATION_MS if keep == "forever" else _ms("keep", keep))
    fields.append(_integer("log_lines", log_lines, 0, 10_000))
    return _trimmed(fields)


def _unique(key, on_conflict, until=None):
    until = None if until is None else _choice("unique", until, UNTILS)
    return _trimmed([_key("unique", _given("unique", key)), _choice("unique", on_conflict, ON_CONFLICT), until])


def _known(call, options):
    """Raises TypeError, as Python does, by the name of what was called, with the nearest name that there is."""
    for name in options:
        if name not in new_job.__kwdefaults__:
            near = difflib.get_close_matches(name, new_job.__kwdefaults__, 1)
            hint = "; did you mean %r?" % near[0] if near else "; it takes %s" % ", ".join(new_job.__kwdefaults__)
            raise TypeError("%s got an unexpected keyword argument %r%s" % (call, name, hint))


def _defaults(handler, options):
    options = dict(options)
    weak = options.pop("weak", None)
    _known("the defaults of %r" % handler, options)
    job = new_job("defaults", **options) + [None] * 25
    # NewJob and Defaults have the same fields in another order.
    places = [job[2], job[3], job[14], job[8], job[9], job[10], job[11], job[20], weak, job[12]]
    return _trimmed(places + job[21:25])


def _debounce(key, delay, mode="trailing", max_delay=None):
    mode = _choice("debounce.mode", mode, DEBOUNCE_MODES)
    fields = [_key("debounce.key", _given("debounce.key", key)), _ms("debounce.delay", _given("debounce.delay", delay), 1)]
    return _trimmed([*fields, mode, _ms("debounce.max_delay", max_delay, 1)])


def _throttle(key, period):
    return [_key("throttle.key", _given("throttle.key", key)), _ms("throttle.period", _given("throttle.period", period), 1)]


def _backoff(type, delay, factor=None, max_delay=None, jitter=None):
    jitter = {"equal": -1, "full": -2}[jitter] if jitter in ("equal", "full") else _number("backoff.jitter", jitter, 0, 1)
    fields = [_choice("backoff.type", type, BACKOFFS), _ms("backoff.delay", _given("backoff.delay", delay))]
    return _trimmed([*fields, _number("backoff.factor", factor, 1, 1000), _ms("backoff.max_delay", max_delay), jitter])


# A connection.


def _dial(url, timeout):
    if url.startswith("unix:"):
        family, address = socket.AF_UNIX, url[len("unix:") :]
    else:
        match = re.match(r"^tcp://(?:\[([^\]]+)\]|([^:/]+)):(\d+)/?$", url)
        if match is None:
            raise ValueError("an address must be unix:/path or tcp://host:port, got %r" % url)
        family, address = None, (match.group(1) or match.group(2), int(match.group(3)))
    try:
        if family is None:
            sock = socket.create_connection(address, timeout)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(address)
        return sock
    except OSError as error:
        raise ConnectionLost("no server at %s: %s" % (url, error), "CONNECT_FAILED") from error


def _token_of(url, token):
    """The token as it was given; else MILLRACE_TOKEN; else, over a daemon's own socket, the one that its first run has put beside its file."""
    token = token or os.environ.get("MILLRACE_TOKEN")
    if token or not (url.startswith("unix:") and url.endswith(SOCKET_END)):
        return token
    try:
        with open(url[len("unix:") : -len(SOCKET_END)] + TOKEN_END, encoding="ascii") as file:
            return file.read(TOKEN_LENGTH).strip() or None
    except (OSError, ValueError):
        # There is none, or it is another user's: the server says what it wants.
        return None


SOCKET_END, TOKEN_END, TOKEN_LENGTH = "-socket", "-token", 1_024


class _Connection:
    """One connection: greeted when it is made; then a thread reads it until its end, which is told of once."""

    def __init__(self, url, token, timeout=10.0):
        self.sock = _dial(url, timeout)
        self.sending = threading.Lock()
        self.ended = threading.Event()
        self.on_delivery = None
        self.on_end = None
        self.limits = None
        try:
            self.hello_sent = time.monotonic()
            intro = [LIBRARY, socket.gethostname()[:200], os.getpid(), ""]
            self.sock.sendall(frame(HELLO, list(VERSIONS), _token_of(url, token), intro))
            type, fields = read_message(self._read_frame(GREETING_BYTES), "greeting")
            if type == GOODBYE:
                raise self._goodbye_error(fields)
        except OSError as error:
            self.sock.close()
            raise ConnectionLost("the greeting failed: %s" % error, "CONNECT_FAILED") from error
        except Error:
            self.sock.close()
            raise
        self.welcome = fields
        self.limits = fields.limits
        # Reading wakes up for pings; a write that gets nowhere for so long is a connection that does not live.
        self.sock.settimeout(self.limits.ping_ms / 1000)
        self.heard = time.monotonic()

    def start(self, on_delivery, on_end):
        self.on_delivery, self.on_end = on_delivery, on_end
        threading.Thread(target=self._read, name="millrace", daemon=True).start()

    def send(self, *message):
        self.write(frame(*message))

    def write(self, *frames):
        """Where the connection is gone, the thread that reads tells of its end."""
        try:
            with self.sending:
                for each in frames:
                    self.sock.sendall(each)
        except OSError:
            self._shut()

    def close(self):
        self.send(GOODBYE, "CLOSING", "", 0)
        self._shut()

    def _shut(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _read(self):
        end = ConnectionLost("the connection is gone")
        try:
            while True:
                type, fields = read_message(self._read_frame(FRAME_BYTES), "open")
                if type == DELIVERY:
                    self.on_delivery(fields)
                elif type == PING:
                    self.send(PONG, fields[0])
                elif type == GOODBYE:
                    end = self._goodbye_error(fields)
                    break
        except ProtocolError as error:
            self.send(GOODBYE, error.code, error.message, -1)
            end = ConnectionLost(error.message, error.code, None)
        except (OSError, ConnectionLost) as error:
            end = ConnectionLost("the connection broke: %s" % error)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            end = ConnectionLost("what came makes no sense: %r" % error, "BAD_FRAME", None)
        finally:
            self.sock.close()
            self.ended.set()
            self.on_end(end)

    def _read_frame(self, most):
        length = struct.unpack(">I", self._read_bytes(4))[0]
        if not 0 < length <= most:
            raise ProtocolError("a frame of %d bytes: at most %d are taken" % (length, most), "FRAME_TOO_LARGE" if length else "BAD_FRAME")
        payload = self._read_bytes(length)
        self.heard = time.monotonic()
        return payload

    def _read_bytes(self, length):
        parts = []
        while length > 0:
            try:
                part = self.sock.recv(min(length, 2**18))
            except socket.timeout:
                self._silent()
                continue
            if not part:
                raise ConnectionLost("the other end has closed the connection")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _silent(self):
        if self.limits is None or time.monotonic() - self.heard >= self.limits.silence_ms / 1000:
            raise ConnectionLost("nothing was heard for too long")
        self.send(PING, 0)

    @staticmethod
    def _goodbye_error(fields):
        code, message, retry_ms = fields[:3]
        return ConnectionLost("%s (%s)" % (message or "the other end said goodbye", code), code, None if retry_ms < 0 else retry_ms / 1000)


BACKOFF_MIN, BACKOFF_MAX = 0.05, 5.0


def _backoff_delay(attempt):
    return random.random() * min(BACKOFF_MAX, BACKOFF_MIN * 2 ** min(attempt, 10))


# The producer.


def connect(url, token=None, timeout=10.0):
    """A client that is connected. Raises ConnectionLost where nobody answers."""
    client = Client(url, token, timeout)
    client._open()
    return client


def _job_key(job):
    """A JobKey, or an id as people see it, as requests take it."""
    key = JobKey.parse(job) if isinstance(job, str) else job
    if not isinstance(key, (tuple, list)) or len(key) != 3:
        raise _type_error("job", "a JobKey or an id, got %r" % (job,))
    return [_integer("job", _given("job", part), 0, most) for part, most in zip(key, (2**48 - 1, SAFE, SAFE))]


def _page(page, most):
    return _integer("page", _given("page", page), 1, most)


def _part(reply, items):
    return reply[items], reply.get("next")


def _follow(ask):
    """The items of page after page: each is asked for when the one before has been read."""
    mark = None
    while True:
        items, mark = ask(mark)
        yield from items
        if mark is None:
            return


class Client:
    """Puts jobs in and asks about them. Threads may share one. A call that a break leaves without its answer raises ConnectionLost;
    the next call connects again."""

    def __init__(self, url, token=None, timeout=10.0):
        self._url, self._token, self._timeout = url, token, timeout
        self._lock = threading.Lock()
        self._connection = None
        self._waiting = {}
        self._last_id = 0
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def enqueue(self, name, data=None, **options):
        """The job's key, once it is on disk. For the options see `new_job`."""
        _known("enqueue()", options)
        return self.enqueue_many([new_job(name, data, **options)])[0]

    def enqueue_many(self, jobs):
        """All of them or none, at most 10,000: `new_job(...)` each. Raises Error (OPTION_RANGE)."""
        jobs = list(jobs)
        if len(jobs) > JOBS_MAX:
            raise _range_error("jobs", JOBS_MAX, "at most %d in one call, got %d" % (JOBS_MAX, len(jobs)))
        return [key for key, _created in self.call("enqueue", jobs)]

    def result(self, job, timeout=None):
        """What the job's handler has returned. Raises Error (JOB_FAILED, JOB_CANCELLED), and TimeoutError after `timeout` seconds. The
        details of JOB_FAILED are `attempt` and `error`: the last error's name, message, stack, and if it has them `code` and `cause`."""
        outcome = self._outcome(job, timeout)
        state = outcome["state"]
        if state == "completed":
            return decode_data(outcome["output"])
        if state == "failed":
            raise Error("JOB_FAILED", "%(name)s: %(message)s" % outcome["error"], {"attempt": outcome["attempt"], "error": outcome["error"]})
        why = ": %(message)s" % outcome["error"] if "error" in outcome else ": %(reason)s" % outcome if "reason" in outcome else ""
        raise Error("JOB_CANCELLED" if state == "cancelled" else "JOB_NOT_FOUND", "the job was %s%s" % (state, why))

    def _outcome(self, job, timeout):
        until = math.inf if timeout is None else time.monotonic() + timeout
        for attempt in range(2**31):
            left = max(0.0, until - time.monotonic())
            try:
                id, future = self._send("watch", _job_key(job))
                try:
                    return future.result(None if timeout is None else left)
                except FutureTimeout:
                    raise TimeoutError("no result of %s within %s s" % (job, timeout)) from None
                finally:
                    self._unwatch(id)
            except ConnectionLost as lost:
                # To ask twice does no harm.
                if lost.retry_after is None or left == 0:
                    raise
                time.sleep(min(left, max(lost.retry_after, _backoff_delay(attempt))))

    def get(self, job):
        """All there is to know of the job as a dict, or None."""
        return self.call("get", _job_key(job))

    def cancel(self, job, reason=None, by=None):
        """'cancelled', or 'cancelling' where it runs. The job stores the reason, of up to 1,000 characters, and who cancelled it: by
        default the name of the token. Raises Error (OPTION_RANGE)."""
        for option, value, most in (("reason", reason, REASON_LENGTH), ("by", by, NAME_LENGTH)):
            if value is not None and not 1 <= len(value) <= most:
                raise _range_error(option, most, "1 to %d characters, got %d" % (most, len(value)))
        return self.call("cancel", *_trimmed([_job_key(job), reason, by]))

    def stats(self, names="histograms", definitions="all"):
        """Counts by state and queue, as a dict. `names`: what it has of each job name, "histograms" (and percentiles), "percentiles" or
        "none". `definitions`: "all", or those that are "disputed"."""
        fields = (_choice("names", names, ("histograms", "percentiles", "none")), _choice("definitions", definitions, ("all", "disputed")))
        return self.call("stats", *(field or None for field in fields))

    def workers(self, page=LIST_PAGE):
        """Iterates over who is attached, a dict each, in the order in which they first attached. `attachedAt` and `lastSeenAt` are
        milliseconds since 1970 by the engine's clock, 0 if the worker has yet to come back to an engine that was opened since.
        `page`: how many are asked for at a time, 1 to 500."""
        return self._pages("workers", "session", _page(page, LIST_PAGE))

    def queues(self, page=LIST_PAGE):
        """Iterates over the queues in the order of their names: a dict each, with settings and counts. `page`: 1 to 500."""
        return self._pages("queues", "name", _page(page, LIST_PAGE), None)

    def jobs(self, state=None, queue=None, name=None, tag=None, search=None, page=JOBS_PAGE):
        """Iterates over the jobs, newest first: a dict each, as of `get`. `state` is one of STATES; `search` occurs in the name, the
        tags, the keys or the data. Jobs that are enqueued meanwhile are left out. `page`: how many are asked for at a time, 1 to 200.
        For further filters and orders use `call("list", filter, ...)`."""
        wanted = [None if state is None else _choice("state", state, STATES), _name("queue", queue), _name("name", name), _key("tag", tag)]
        found, page = _key("search", search), _page(page, JOBS_PAGE)
        return _follow(lambda before: _part(self.call("list", _trimmed(wanted), page, before, found), "jobs"))

    def schedules(self, prefix="", page=JOBS_PAGE):
        """Iterates over the schedules whose ids begin with `prefix`, in the order of their ids: a dict each. `page`: 1 to 200."""
        page = _page(page, JOBS_PAGE)
        return _follow(lambda after: _part(self.call("listSchedules", prefix, page, after), "schedules"))

    def flows(self, state=None, page=JOBS_PAGE):
        """Iterates over the flows, newest first: a dict each, with their jobs by state. `state` is one of FLOW_STATES. `page`: how many
        are asked for at a time, 1 to 200."""
        wanted, page = None if state is None else _choice("state", state, FLOW_STATES), _page(page, JOBS_PAGE)
        return _follow(lambda before: _part(self.call("listFlows", page, wanted, before), "flows"))

    def _pages(self, op, mark, page, *fields):
        """Of an operation whose page goes on behind the last item of the one before."""

        def ask(after):
            items = self.call(op, *fields, after, page)
            return items, items[-1][mark] if len(items) == page else None

        return _follow(ask)

    def call(self, op, *fields):
        """Any operation of the protocol: its fields in their order, and times in milliseconds. They are not looked at here: the server
        ends the connection, and with it the calls of all threads, for one that the operation does not take."""
        return self._send(op, *fields)[1].result()

    def close(self):
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            connection.ended.wait(1)

    def _open(self):
        with self._lock:
            return self._opened()

    def _opened(self):
        if self._closed:
            raise ConnectionLost("the client was closed", "CLOSED", None)
        if self._connection is None or self._connection.ended.is_set():
            connection = _Connection(self._url, self._token, self._timeout)
            self._connection = connection
            connection.start(self._deliver, lambda end: self._end(connection, end))
        return self._connection

    def _send(self, op, *fields):
        with self._lock:
            connection = self._opened()
            self._last_id += 1
            id, future = self._last_id, Future()
            frames = request_frames([request(id, op, *fields)], connection.limits.frame_bytes)
            self._waiting[id] = (connection, future)
        connection.write(*frames)
        return id, future

    def _unwatch(self, watch):
        """Of one that is not answered. The reply to it is nobody's."""
        with self._lock:
            connection, _ = self._waiting.pop(watch, (None, None))
            self._last_id += 1
            id = self._last_id
        if connection is not None:
            connection.send(REQUESTS, [request(id, "unwatch", watch)])

    def _deliver(self, delivery):
        for id, value, error in read_replies(delivery.replies):
            with self._lock:
                _, future = self._waiting.pop(id, (None, None))
            if future is None:
                continue
            _resolve(future, value, error)

    def _end(self, connection, end):
        with self._lock:
            lost = [id for id, (on, _) in self._waiting.items() if on is connection]
            futures = [self._waiting.pop(id)[1] for id in lost]
        for future in futures:
            future.set_exception(end)


# The worker.


class Retry(Exception):
    """Raised by a handler: try again after so many seconds, 0 or more."""

    def __init__(self, after, message=""):
        super().__init__(message or "retry after %s s" % after)
        self.after_ms = _ms("after", after)


class Fail(Exception):
    """Raised by a handler: fail for good, whatever attempts are left."""


class Cancel(Exception):
    """Raised by a handler: the job is cancelled, and the message is the reason."""


class Snooze(Exception):
    """Raised by a handler: not now, but after so many seconds, 0 or more. No attempt is used."""

    def __init__(self, delay):
        super().__init__("snooze for %s s" % delay)
        self.delay_ms = _ms("delay", _given("delay", delay))


class Parent(namedtuple("Parent", "id ref state output error")):
    """A job that this one has waited for. `state` is its final state, or 'deleted'; `error` is a dict of the `name` and the `message` of
    its last error, with `stack`, `code` and `cause` if it has them, or None."""

    __slots__ = ()


class _Join(BaseException):
    """Ends the run of a job that waits for others. No Exception: a handler that catches those does not catch it."""

    def __init__(self, name):
        super().__init__("the job waits for the jobs that it has joined as %r" % name)


def _parent(said):
    key = JobKey(said["seq"], said["node"], said["enqueuedAt"])
    return Parent(str(key), said["ref"], said["state"], decode_data(said["output"]), said.get("error"))


def _joined_jobs(jobs, joined):
    """The jobs of a join, as they are sent. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
    if isinstance(jobs, (str, bytes, dict)) or not hasattr(jobs, "__iter__"):
        raise _type_error("join", "given a list of new_job(...), or a function that returns one, got %r" % (jobs,))
    jobs = list(jobs)
    for job in jobs:
        if not isinstance(job, list) or not job or not isinstance(job[0], str):
            raise _type_error("join", "given new_job(...) each, got %r" % (job,))
        for place, key in NOT_JOINED.items():
            if len(job) > place and job[place] is not None:
                raise _type_error(key, "left out: it may stand for an earlier job, and the jobs of a join are always new")
    if len(jobs) > JOBS_MAX:
        raise _range_error("join", JOBS_MAX, "given at most %d jobs, got %d" % (JOBS_MAX, len(jobs)))
    waited = joined[-1].place + joined[-1].jobs - 1 if joined else 0
    if waited + len(jobs) > PARENTS_MAX or len(joined) >= JOINS_MAX:
        message = "at most %d in one job, and %d jobs in all: let one of the joined jobs join the others" % (JOINS_MAX, PARENTS_MAX)
        raise _range_error("join", JOINS_MAX if len(joined) >= JOINS_MAX else PARENTS_MAX, message)
    return jobs


class Job:
    """What a handler gets. `aborted` is set when it is to stop: its deadline has passed, it was cancelled, the worker stops, or the
    job may be another's by now (`abort_cause` says which: 'timeout', 'cancel', 'stop', 'lost'; `cancel_reason` and `cancelled_by` are what
    was said of a cancel, or None). A handler that runs for long looks at it."""

    def __init__(self, worker, grant):
        self._worker = worker
        self._grant = grant
        self.key = JobKey(grant.seq, grant.node, grant.enqueued_at)
        self.name, self.queue = grant.name, grant.queue
        self.run, self.attempt, self.max_attempts = grant.run, grant.attempt, grant.max_attempts
        self.tags = grant.tags or []
        self.aborted = threading.Event()
        self.abort_cause = self.cancel_reason = self.cancelled_by = None
        # What its join has ended the run with: it counts, whatever the handler makes of the exception.
        self._ending = None

    @property
    def id(self):
        return str(self.key)

    @property
    def data(self):
        return decode_data(self._grant.data)

    @property
    def checkpoint(self):
        """What an earlier attempt has saved."""
        return decode_data(self._grant.checkpoint)

    @property
    def meta(self):
        return decode_data(self._grant.meta)

    def heartbeat(self):
        """The deadline becomes at least now + heartbeat_timeout."""
        self._say("heartbeat")

    def save(self, value):
        """Stores a checkpoint, which the next attempt finds; also a heartbeat. The last one is said again after a break. Raises Error
        (OPTION_RANGE) where the engine would not store so much."""
        data = encode_data(value)
        self._worker._check("checkpoint", data)
        self._worker._save(self, data)

    def progress(self, fraction, note=None, value=None):
        """From 0 to 1, with a note of up to 4,096 characters and a JSON value of up to 16 KiB. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        fraction = _number("progress", _given("progress", fraction), 0, 1)
        text = _json("value", value, PROGRESS_LENGTH, "store the rest with save")
        self._say("progress", fraction, None if note is None else str(note)[:TEXT_LENGTH], text)

    def log(self, level, message, **fields):
        """`level` is 'debug', 'info', 'warn' or 'error'; of the message 4,096 characters are kept."""
        line = [int(time.time() * 1000), _choice("level", level, LOG_LEVELS), str(message)[:TEXT_LENGTH], _fields_text(fields)]
        self._say("log", [_trimmed(line)])

    def join(self, name, jobs):
        """Waits for jobs that this job creates, without holding its place: `jobs` is a list of `new_job(...)`, or a function that returns
        one. The first time, they are created and the run ends, in one commit: no attempt is used. When all of them have ended, in
        whatever state, the handler runs again from its beginning, and the same call returns an iterator of a Parent each, in their order;
        the function is not called. `name` tells apart several joins of one handler. No jobs: nothing is awaited. At most 10,000 jobs and
        16 MiB in one join, 100 joins and 50,000 jobs in one job. Raises Error (OPTION_TYPE, OPTION_RANGE)."""
        group = _name("join", _given("join", name))
        joined = self._grant.joined or []
        for known in joined:
            if known.name == group:
                return self._parents(known.place - 1, known.place + known.jobs - 1)
        asked = _joined_jobs(jobs() if callable(jobs) else jobs, joined)
        if not asked:
            return iter(())
        self._worker._check_size("join", len(pack(asked)), JOIN_BYTES)
        self._ending = self._ending or ("join", group, asked)
        raise _Join(group)

    def parents(self):
        """Iterates over the jobs of its flow that this job has waited for, a Parent each. They are read on demand, page by page."""
        return self._parents(None, None)

    def _parents(self, after, until):
        return _follow(lambda mark: self._page(after if mark is None else mark, until))

    def _page(self, after, until):
        page = self._worker._ask(self, "parents", *_trimmed([after, until]))
        return [_parent(each) for each in page["parents"]], page.get("next")

    def _say(self, op, *fields):
        self._worker._say(self, op, *fields)


class _Run:
    __slots__ = ("job", "key", "lease", "checkpoint", "settlement", "questions")

    def __init__(self, job, lease):
        self.job = job
        self.key = (job.key.seq, job.run)
        self.lease = lease
        # The last one, and what was said of its end, until they are answered.
        self.checkpoint = None
        self.settlement = None
        # What the handler has asked and waits for.
        self.questions = []

    def unanswered(self):
        """In the order in which it is said: behind its settlement the checkpoint would be of a run that is over."""
        return [said for said in (*self.questions, self.checkpoint, self.settlement) if said is not None]


class _Said:
    """What is said of a run, again until it is answered. `id` is that of its request, None where it is to be said; a question has a
    `future`, for its answer."""

    __slots__ = ("op", "fields", "id", "future")

    def __init__(self, op, *fields, future=None):
        self.op, self.fields, self.id, self.future = op, fields, None, future


def _fields_text(fields):
    """A log line is no reason to fail a job."""
    try:
        return json.dumps(fields, allow_nan=False)[:TEXT_LENGTH] if fields else None
    except (TypeError, ValueError) as error:
        return json.dumps({"unreadable": str(error)})


LEASE = 120.0  # of a job whose heartbeat_timeout is 0
MARGIN = 0.95  # a lease ends here a little before it ends there
RENEW_MIN, RENEW_MAX = 0.05, 15.0
SAY_AGAIN = 0.25  # after a refusal that leaves it open
# Refusals after which the same request may succeed, those after which nobody is left to hear of a run, and those that come again.
RETRYABLE = frozenset(
    "ALREADY_OPEN DISK_FULL STORAGE_BUSY STORAGE COMMIT_UNKNOWN BUSY JOB_ACTIVE RESULT_TIMEOUT QUEUE_FULL QUEUE_DRAINING DRAIN_INCOMPLETE "
    "QUEUE_NOT_EMPTY SCHEDULE_CHANGED JOB_TIMEOUT WORKER_LOST LEASE_LOST WORKER_STOPPED JOB_BLOCKED CONNECTION_LOST".split()
)
OVER = frozenset("STALE_RUN ENGINE_STOPPED ENGINE_FAILED OWNER_LOST".split())
HOPELESS = frozenset("OPTION_RANGE CODEC".split())
JOINS_MAX, PARENTS_MAX, JOIN_BYTES = 100, 50_000, 16 * 2**20
NOT_JOINED = {6: "idempotency_key", 7: "unique", 18: "debounce", 19: "throttle"}  # fields of a NewJob


class Worker:
    """Runs handlers, each in a thread: a dict of functions of one Job by name of job. What a handler returns is the job's output, unless
    the worker has told it to stop: then the job is given back, and runs again.
    `defaults` are those of `new_job` by name of job, for jobs that are enqueued by name alone. With `order` 'strict' a job starts in this
    worker only if no earlier queue of `queues` has a job in line that could start; 'fair' (default): they take turns.
    Raises Error (OPTION_TYPE, OPTION_RANGE)."""

    def __init__(
        self, url, handlers, *, concurrency=4, min_concurrency=None, queues=None, order="fair", token=None, name=None, abort_grace=30.0,
        defaults=None
    ):
        self._url, self._token = url, token
        self._handlers = dict(handlers)
        self._served = [_trimmed([_name("handlers", each), _defaults(each, (defaults or {}).get(each, {}))]) for each in self._handlers]
        self._queues = queues and [_queue_pattern(queue) for queue in queues]
        self._order = _choice("order", order, ORDERS)
        if self._order and not self._queues:
            raise _type_error("order", "'fair' without queues: 'strict' is the order of those, the most urgent first")
        self._max = _integer("concurrency", _given("concurrency", concurrency), 1, 100_000)
        self._min = concurrency if min_concurrency is None else _integer("min_concurrency", min_concurrency, 1, concurrency)
        self._grace = abort_grace
        self._grace_ms = _ms("abort_grace", _given("abort_grace", abort_grace))
        self.uuid = str(uuid.uuid4())
        self.name = str(name) if name else "python-%s" % self.uuid[:8]
        # Everything below is looked at and changed under this lock, and what changes wakes up `run`.
        self._changed = threading.Condition(threading.RLock())
        self._connection = None
        self._limits = None
        self._runs = {}
        self._unanswered = {}
        self._stopping = False
        self._stop_timeout = 30.0
        self._stop_until = 0.0
        self._end = None
        self._last_id = 0
        self._attaching = None
        self._renewals = 0
        self._sent = []
        self._renewed = 0.0
        # Why the engine is of no use to this worker.
        self._refused = None
        # When the last renewal that the engine has counted was sent; None before the first attach is answered.
        self._known = None
        self._shortest = LEASE

    def run(self):
        """Works until `stop` is called. Raises ConnectionLost only where it is of no use to come back, and Error (UNSUPPORTED) where the
        engine is of an earlier version that does not know the order 'strict'."""
        attempt = 0
        try:
            while not self._stopping or (self._runs and time.monotonic() < self._stop_until):
                try:
                    self._attach_to(_Connection(self._url, self._token))
                    end = self._serve()
                    if self._connection is not None:
                        self._connection.close()
                    if end is None:
                        break
                    # It was good for a while: the next attempts are first ones.
                    attempt = 0 if self._attaching is None else attempt
                except ConnectionLost as error:
                    end = error
                if end.retry_after is None:
                    self._disown_all()
                    raise end
                self._wait(max(end.retry_after, _backoff_delay(attempt)))
                attempt += 1
            if self._refused is not None:
                raise self._refused
        finally:
            self._disown_all()
            connection = self._connection
            if connection is not None:
                connection.close()

    def stop(self, timeout=30.0):
        """Takes no more jobs, lets what runs finish for so many seconds, and gives the rest back. From any thread, or a signal handler."""
        self._stop_timeout = timeout
        self._stop_until = time.monotonic() + timeout + self._grace
        self._stopping = True
        # A signal handler may not wait for the lock.
        threading.Thread(target=self._wake, daemon=True).start()

    def _wake(self):
        with self._changed:
            self._changed.notify_all()

    def _check(self, what, data):
        """Raises Error where it is more than the engine stores, as the last connection has said it."""
        size = len(_utf8(data)) if isinstance(data, str) else len(data or b"")
        self._check_size(what, size, math.inf if self._limits.data_bytes is None else self._limits.data_bytes)

    def _check_size(self, what, size, most):
        # Whatever is stored, it comes in one frame, with a few words around it.
        most = min(self._limits.frame_bytes - 1024, most)
        if size > most:
            remedy = "split the work into several joins" if what == "join" else "keep large content elsewhere, or raise maxDataBytes of the engine"
            message = "%s has %d bytes, and at most %d are stored: %s"
            raise Error("OPTION_RANGE", message % (what, size, most, remedy), {"option": what, "limit": most})

    # The connection.

    def _attach_to(self, connection):
        with self._changed:
            self._connection, self._limits = connection, connection.limits
            self._end = None
            self._renewals, self._sent, self._attaching = 0, [(0, connection.hello_sent)], None
            connection.start(lambda delivery: self._deliver(connection, delivery), lambda end: self._ended(connection, end))
            self._attach()

    def _attach(self):
        """Names the session with what it holds; behind it what has not been answered. A renewal goes right before it."""
        held = [list(key) for key in self._runs]
        renew = self._renew()
        self._attaching = self._next_id()
        requests = [renew, request(self._attaching, "attach", self._session(), held or None)]
        self._unanswered.clear()
        for run in self._runs.values():
            for said in run.unanswered():
                said.id = None
        requests += self._unsaid(*sorted(self._runs.values(), key=lambda run: run.settlement is None))
        self._send(*requests)

    def _session(self):
        session = [self.uuid, self.name, socket.gethostname()[:128], os.getpid(), self._served, self._queues, self._min, self._max]
        return _trimmed([*session, self._grace_ms, None, None, None, self._order or None])

    def _ended(self, connection, end):
        with self._changed:
            if self._connection is connection:
                self._connection = None
                self._end = end
                self._changed.notify_all()

    def _wait(self, seconds):
        """As long as that, or until somebody stops it; runs end where their lease does."""
        until = time.monotonic() + seconds
        with self._changed:
            while time.monotonic() < until:
                self._look()
                if self._stopping and not self._runs:
                    return
                self._changed.wait(min(until, self._lapse_due()) - time.monotonic())

    # The clock: this is where `run` spends its time.

    def _serve(self):
        """Until the connection ends (then why), or the worker has stopped (then None)."""
        drained = None
        with self._changed:
            while self._end is None:
                self._look()
                now = time.monotonic()
                if self._stopping and drained is None:
                    drained = now
                    self._send(request(self._next_id(), "drain", self.uuid))
                if drained is not None and self._settle_all(now - drained):
                    self._send(request(self._next_id(), "leave", self.uuid))
                    return None
                renew_due = self._renewed + min(RENEW_MAX, max(RENEW_MIN, self._shortest / 4))
                if now >= renew_due:
                    self._send(self._renew())
                    continue
                due = min(renew_due, self._lapse_due(), now + 0.2 if drained is not None else math.inf)
                self._changed.wait(max(0.001, due - now))
            return self._end

    def _settle_all(self, elapsed):
        """Whether all is over: what still runs is told to stop after the timeout, and given back after the grace."""
        if elapsed >= self._stop_timeout:
            for run in self._runs.values():
                self._abort(run.job, "stop")
        if elapsed >= self._stop_timeout + self._grace:
            return True
        return not self._runs

    def _look(self):
        """Runs whose lease has passed since the engine is known to have heard of us: they may be another's by now."""
        if self._known is None:
            return
        silence = time.monotonic() - self._known
        for key, run in list(self._runs.items()):
            if silence >= MARGIN * run.lease:
                self._disown(key)

    def _lapse_due(self):
        leases = [run.lease for run in self._runs.values()]
        return self._known + MARGIN * min(leases) if leases and self._known is not None else math.inf

    def _renew(self):
        self._renewals += 1
        self._renewed = time.monotonic()
        self._sent.append((self._renewals, self._renewed))
        return request(-self._renewals, "renew", self._renewals)

    def _next_id(self):
        self._last_id += 1
        return self._last_id

    def _send(self, *requests):
        if self._connection is not None and requests:
            self._connection.write(*request_frames(requests, self._limits.frame_bytes))

    # What the engine says.

    def _deliver(self, connection, delivery):
        with self._changed:
            if self._connection is not connection:
                return
            # First of all: a process that was stopped must not go on as if no time had passed.
            self._look()
            for reply in read_replies(delivery.replies):
                self._replied(*reply)
            while len(self._sent) > 1 and self._sent[1][0] <= delivery.renewal:
                self._sent.pop(0)
            # Until the engine has answered the attach, it renews a session that it may not have.
            if self._attaching is None:
                self._known = max(self._known or 0.0, self._sent[0][1])
            for kind, *fields in delivery.notices:
                self._notice(kind, fields)
            for grant in delivery.grants:
                self._granted(grant)
            self._changed.notify_all()

    def _replied(self, id, value, error):
        if id == self._attaching:
            if error is not None:
                self._end = ConnectionLost(error.message, error.code, None if error.code == "FORBIDDEN" else 1.0)
                return
            self._attaching = None
            for key in value.lost:
                self._disown(key)
            if self._order and value.order != self._order:
                # It would hand out jobs by turns. What it has handed out goes back.
                message = "the engine is of an earlier version, which does not know the order 'strict': bring it up to date"
                self._refused = Error("UNSUPPORTED", message)
                self.stop(0)
        run = self._unanswered.pop(id, None)
        if run is not None and self._runs.get(run.key) is run:
            for said in run.unanswered():
                if said.id == id:
                    self._answered(run, said, value, error)

    def _answered(self, run, said, value, error):
        if error is not None and error.code in RETRYABLE:
            said.id = None
            timer = threading.Timer(SAY_AGAIN, self._say_again, [run])
            timer.daemon = True
            timer.start()
        elif said.future is not None:
            run.questions.remove(said)
            _resolve(said.future, value, error)
        elif said is run.checkpoint:
            run.checkpoint = None
        elif error is None or error.code in OVER or said.op == "giveBack":
            self._forget(run.key)
        elif said.op != "fail" or said.fields[1] is not None:
            # The outcome itself was refused: that is how the run failed.
            told = said.fields[0] if said.op == "fail" else [error.code, error.message[:TEXT_LENGTH]]
            run.settlement = _Said("fail", told, False if error.code in HOPELESS else None)
            self._send(*self._unsaid(run))
        # Else there is nothing simpler to say. Held, the run ends at its deadline; forgotten, it would run again at once.

    def _notice(self, kind, fields):
        if kind == REATTACH:
            self._attach()
        elif kind == STOP:
            timeout = fields[1] / 1000
            # Told again it may have less patience, not more.
            if not self._stopping or timeout < self._stop_timeout:
                self.stop(timeout)
        elif kind in (ABORT, LOST):
            key = (fields[1], fields[2])
            if kind == LOST:
                self._disown(key)
            elif key in self._runs:
                reason, by = (*fields[4:6], None, None)[:2]
                self._abort(self._runs[key].job, ABORT_CAUSES[fields[3]], reason, by)

    def _granted(self, grant):
        lease = grant.heartbeat_timeout / 1000 or LEASE
        if time.monotonic() - self._sent[0][1] >= MARGIN * lease or self._stopping:
            self._send(request(self._next_id(), "giveBack", grant.seq, grant.run))
            return
        self._shortest = min(self._shortest, lease)
        run = _Run(Job(self, grant), lease)
        self._runs[run.key] = run
        # One of its own, not of a pool: behind a handler that ignores its abort nothing else waits, and the process ends without it.
        thread = threading.Thread(target=self._execute, args=[run.job], name="millrace-job", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The process has no room for another.
            run.settlement = _Said("giveBack")
            self._send(*self._unsaid(run))

    def _abort(self, job, cause, reason=None, by=None):
        if job.abort_cause is None:
            job.cancel_reason, job.cancelled_by = reason, by
            job.abort_cause = cause
            job.aborted.set()

    def _disown(self, key):
        run = self._forget(key)
        if run is not None:
            self._abort(run.job, "lost")

    def _forget(self, key):
        run = self._runs.pop(key, None)
        if run is not None:
            for question in run.questions:
                question.future.set_exception(_stale())
        return run

    def _disown_all(self):
        with self._changed:
            for key in list(self._runs):
                self._disown(key)

    # What handlers say.

    def _execute(self, job):
        try:
            settlement = self._outcome(job)
        except BaseException as error:
            # A subclass of Retry or Snooze that never called ours.
            settlement = ("fail", *_failure(error))
        with self._changed:
            run = self._runs.get((job.key.seq, job.run))
            if run is not None:
                run.settlement = _Said(*settlement)
                self._send(*self._unsaid(run))
            self._changed.notify_all()

    def _outcome(self, job):
        try:
            output = self._handlers[job.name](job)
        except BaseException as error:
            return job._ending or self._failed(job, error)
        if job._ending is not None:
            return job._ending
        if job.abort_cause == "stop":
            # What it returns after it was told to stop may be half of its work: it is run again.
            return ("giveBack", True)
        try:
            data = encode_data(output)
            self._check("output", data)
            return ("complete", data)
        except Exception as error:
            # What has no JSON now, or is too large, will be so the next time.
            return ("fail", _failure(error)[0], False)

    @staticmethod
    def _failed(job, error):
        if isinstance(error, Snooze):
            return ("snooze", error.delay_ms)
        if isinstance(error, Cancel):
            # A server that does not know the last field fails the job for good.
            return ("fail", _failure(error)[0], False, True)
        # What a worker that stops has cut short is no failure of the job.
        return ("giveBack", True) if job.abort_cause == "stop" else ("fail", *_failure(error))

    def _unsaid(self, *runs):
        """Requests for what is to be said of them."""
        requests = []
        for run in runs:
            for said in run.unanswered():
                if said.id is None:
                    said.id = self._next_id()
                    self._unanswered[said.id] = run
                    requests.append(request(said.id, said.op, *run.key, *said.fields))
        return requests

    def _say_again(self, run):
        with self._changed:
            if self._runs.get(run.key) is run:
                self._send(*self._unsaid(run))

    def _save(self, job, data):
        with self._changed:
            run = self._runs.get((job.key.seq, job.run))
            if run is not None:
                run.checkpoint = _Said("checkpoint", data)
                self._send(*self._unsaid(run))

    def _ask(self, job, op, *fields):
        """The answer to a question about its run, also after a break. Raises Error (STALE_RUN) if the run is no longer this worker's."""
        future = Future()
        with self._changed:
            run = self._runs.get((job.key.seq, job.run))
            if run is None:
                raise _stale()
            run.questions.append(_Said(op, *fields, future=future))
            self._send(*self._unsaid(run))
        return future.result()

    def _say(self, job, op, *fields):
        with self._changed:
            if (job.key.seq, job.run) in self._runs:
                self._send(request(self._next_id(), op, job.key.seq, job.run, *fields))


def _resolve(future, value, error):
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


def _stale():
    return Error("STALE_RUN", "the run is no longer this worker's: another may have the job by now")


def _facts(error):
    """Its code and its causes. Where they cannot be read, the error itself still can."""
    try:
        return _code(error), _causes(error)
    except Exception:
        return None, []


def _code(error):
    """The `code` of an error, as a string; of an OSError without one the name of its `errno`, such as ECONNREFUSED."""
    code = getattr(error, "code", None)
    if code is None and isinstance(error, OSError):
        code = errno.errorcode.get(error.errno, error.errno)
    if isinstance(code, bool) or not isinstance(code, (str, int, float)) or code == "":
        return None
    return str(code)[:CODE_LENGTH]


def _causes(error):
    """What it was raised from (`raise ... from ...`), the nearest first: `[name, message, code]`, or without a code."""
    causes = []
    while error.__cause__ is not None and len(causes) < CAUSES_MAX:
        error = error.__cause__
        code = _code(error)
        causes.append([type(error).__name__[:CODE_LENGTH], str(error)[:CAUSE_LENGTH]] + ([] if code is None else [code]))
    return causes


def _failure(error):
    """What a run has failed with, and when it is tried again. Never raises, whatever was raised."""
    try:
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        code, causes = _facts(error)
        room = STACK_LENGTH - sum(len(text or "") for text in (code, *(text for cause in causes for text in cause)))
        told = [type(error).__name__, str(error)[:TEXT_LENGTH], stack[:room]]
        if code is not None or causes:
            told += [code, causes] if causes else [code]
    except Exception:
        told = [type(error).__name__, "the handler has raised what cannot be read"]
    return told, getattr(error, "after_ms", None) if isinstance(error, Retry) else False if isinstance(error, Fail) else None
