"""Messages: arrays of fields, in the order of docs/protocol.md. What is missing at the end is nil."""

from __future__ import annotations

import struct
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple, Type, TypeVar

from ._schema import (
    ALLOWED, ATTACHED, DELIVERY, ENQUEUED, GOODBYE, HELLO, OPS, PING, PONG, REFUSAL, REQUESTS, REQUESTS_MAX, STATS, STATS_FIELDS, TRUE, VALUE,
    WELCOME, Attached, Delivery, Grant, Joined, Limits, Welcome,
)
from .codec import pack, pack_head, unpack
from .encoding import trimmed
from .errors import Error, ProtocolError, type_error
from .keys import JobKey
from .version import VERSION

LIBRARY = "millrace-python " + VERSION
Record = TypeVar("Record", bound=Tuple[Any, ...])


def frame(*message: Any) -> bytes:
    payload = pack(list(message))
    return struct.pack(">I", len(payload)) + payload


def request(id: int, op: str, *fields: Any) -> List[Any]:
    """A request without the nils at its end. Raises Error (OPTION_TYPE) for an operation that there is none of."""
    if op not in OPS:
        raise type_error("op", "an operation of docs/protocol.md, got %r" % (op,))
    return [id, OPS[op], *trimmed(fields)]


REQUESTS_HEAD = 5  # bytes before the first of them: an array of two, the type, an array and its length


def request_frames(requests: Iterable[Any], frame_bytes: int) -> List[bytes]:
    """The requests in order, in as many frames as a server takes that has said `frame_bytes`. Raises Error (TOO_LARGE) where one alone
    is more."""
    frames: List[bytes] = []
    parts: List[bytes] = []
    size = REQUESTS_HEAD
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


def _requests_frame(parts: Sequence[bytes]) -> bytes:
    out = bytearray((0x92, REQUESTS))
    pack_head(len(parts), out, (0x90, 15), None, 0xDC, 0xDD)
    payload = bytes(out) + b"".join(parts)
    return struct.pack(">I", len(payload)) + payload


def _named(kind: Type[Record], fields: Any) -> Record:
    """An array by the names of its fields: some may be missing, and there may be some that are not known here."""
    if not isinstance(fields, list):
        raise ProtocolError("a %s is an array" % kind.__name__)
    known = len(kind._fields)  # type: ignore[attr-defined]
    return kind(*(fields + [None] * known)[:known])


def read_message(payload: bytes, state: str) -> Tuple[int, Any]:
    """`(type, fields)` of a message that the server may send in that state: `greeting` or `open`."""
    message = unpack(payload)
    if not isinstance(message, list) or not message:
        raise ProtocolError("a message is an array that begins with its type")
    type, fields = message[0], message[1:]
    if type not in range(HELLO, GOODBYE + 1):
        raise ProtocolError("no message has the type %r" % (type,))
    if type not in ALLOWED[state]:
        raise ProtocolError("a server sends no %r while the connection is %s" % (type, state), "BAD_MESSAGE")
    if type == WELCOME:
        welcome = _named(Welcome, fields)
        return type, welcome._replace(limits=_named(Limits, welcome.limits))
    if type == DELIVERY:
        renewal, *parts = _named(Delivery, fields[0] if fields else None)
        replies, grants, notices, events = (part or [] for part in parts)
        return type, Delivery(renewal, replies, [_grant(each) for each in grants], notices, events)
    if (type in (PING, PONG) and len(fields) < 1) or (type == GOODBYE and len(fields) < 3):
        raise ProtocolError("a field is missing")
    return type, fields


def _grant(fields: Any) -> Grant:
    grant = _named(Grant, fields)
    return grant if grant.joined is None else grant._replace(joined=[_named(Joined, each) for each in grant.joined])


def read_reply(reply: Any) -> Tuple[int, Any, Optional[Error]]:
    """`(id, value, error)` of a reply."""
    if not isinstance(reply, list) or len(reply) < 2:
        raise ProtocolError("a reply has an id and a kind")
    id, kind, fields = reply[0], reply[1], reply[2:] + [None] * 15
    if kind == TRUE:
        return id, True, None
    if kind == REFUSAL:
        return id, None, Error(*fields[:3])
    if kind == ENQUEUED:
        return id, [(JobKey(*each[:3]), each[3]) for each in fields[0]], None
    if kind == ATTACHED:
        return id, Attached([(seq, run) for seq, run, *_ in fields[0] or []], fields[1] or []), None
    if kind == VALUE:
        return id, fields[0], None
    if kind == STATS:
        stats = {name: nil if said is None else said for (name, nil), said in zip(STATS_FIELDS.items(), fields)}
        return id, {**stats, "queues": {name: counts for name, counts, *_ in stats["queues"]}}, None
    raise ProtocolError("no reply is of the kind %r" % (kind,))


def read_replies(replies: Iterable[Any]) -> Iterator[Tuple[int, Any, Optional[Error]]]:
    """`(id, value, error)` of each. A reply that cannot be read fails its call (PROTOCOL), and no other."""
    for reply in replies:
        try:
            yield read_reply(reply)
        except (ProtocolError, IndexError, KeyError, TypeError, ValueError) as error:
            if not isinstance(reply, list) or not reply or not isinstance(reply[0], int):
                raise ProtocolError("a reply has an id and a kind") from None
            yield reply[0], None, Error("PROTOCOL", "the answer cannot be read: %s" % error)
