"""MessagePack, as far as the protocol has it: nil, booleans, integers of 53 bits, float64, str, bin, arrays, maps with string keys."""

from __future__ import annotations

import math
import re
import struct
from typing import Any, Dict, List, Optional, Tuple

from ._schema import DEPTH_MAX, ITEMS_MAX, KEYS_MAX, UNSAFE_KEYS
from .errors import ProtocolError

SAFE = 2**53 - 1
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
HALF = re.compile("[\ud800-\udfff]")


def pack(value: Any) -> bytes:
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value: Any, out: bytearray) -> None:
    if value is None or isinstance(value, bool):
        out.append(0xC0 if value is None else 0xC2 + value)
    elif isinstance(value, (int, float)):
        _pack_number(value, out)
    elif isinstance(value, str):
        data = utf8(value)
        pack_head(len(data), out, (0xA0, 31), 0xD9, 0xDA, 0xDB)
        out += data
    elif isinstance(value, (bytes, bytearray, memoryview)):
        pack_head(len(value), out, None, 0xC4, 0xC5, 0xC6)
        out += value
    elif isinstance(value, (list, tuple)):
        pack_head(len(value), out, (0x90, 15), None, 0xDC, 0xDD)
        for item in value:
            _pack(item, out)
    elif isinstance(value, dict):
        pack_head(len(value), out, (0x80, 15), None, 0xDE, 0xDF)
        for key, item in value.items():
            _pack(key, out)
            _pack(item, out)
    else:
        raise TypeError("a %s has no form in a message" % type(value).__name__)


def _pack_number(value: float, out: bytearray) -> None:
    if isinstance(value, float) and not (value.is_integer() and abs(value) <= SAFE):
        if math.isnan(value):
            raise ValueError("NaN has no form in a message")
        out += struct.pack(">Bd", 0xCB, value)
        return
    whole = int(value)
    if abs(whole) > SAFE:
        raise ValueError("%d has more than 53 bits" % whole)
    if -32 <= whole < 128:
        out += struct.pack(">b", whole)
        return
    sizes = ((0xCC, "B", 8), (0xCD, "H", 16), (0xCE, "I", 32), (0xCF, "Q", 64))
    if whole < 0:
        sizes = ((0xD0, "b", 7), (0xD1, "h", 15), (0xD2, "i", 31), (0xD3, "q", 63))
    for code, kind, bits in sizes:
        if -(2**bits) <= whole < 2**bits:
            out += struct.pack(">B" + kind, code, whole)
            return


def pack_head(
    length: int, out: bytearray, short: Optional[Tuple[int, int]], code8: Optional[int], code16: int, code32: int
) -> None:
    if short is not None and length <= short[1]:
        out.append(short[0] + length)
    elif code8 is not None and length < 2**8:
        out += struct.pack(">BB", code8, length)
    elif length < 2**16:
        out += struct.pack(">BH", code16, length)
    else:
        out += struct.pack(">BI", code32, length)


def utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # Halves of surrogate pairs that belong together are one character; the others have three bytes each.
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "surrogatepass")


def units(text: str) -> int:
    """Its length as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def unpack(payload: bytes) -> Any:
    """The one value that the payload holds. Raises ProtocolError; every length is held against what is left."""
    reader = _Reader(payload)
    value = reader.read(0)
    if reader.at != len(payload):
        raise ProtocolError("%d bytes follow the message" % (len(payload) - reader.at))
    return value


class _Reader:
    NUMBERS = {0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q"}
    LENGTHS = {0xD9: "B", 0xDA: "H", 0xDB: "I", 0xC4: "B", 0xC5: "H", 0xC6: "I", 0xDC: "H", 0xDD: "I", 0xDE: "H", 0xDF: "I"}

    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self.at = 0

    def read(self, depth: int) -> Any:
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

    def take(self, length: int) -> bytes:
        if length > len(self.payload) - self.at:
            raise ProtocolError("%d bytes, where %d are left" % (length, len(self.payload) - self.at))
        self.at += length
        return self.payload[self.at - length : self.at]

    def read_number(self, kind: str) -> float:
        value: float = struct.unpack(">" + kind, self.take(struct.calcsize(kind)))[0]
        if isinstance(value, int) and abs(value) > SAFE:
            raise ProtocolError("%d has more than 53 bits" % value)
        if isinstance(value, float) and math.isnan(value):
            raise ProtocolError("NaN is no number")
        return value

    def read_text(self, length: int) -> str:
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

    def read_array(self, length: int, depth: int) -> List[Any]:
        self.enter(length, ITEMS_MAX, 1, depth)
        return [self.read(depth + 1) for _ in range(length)]

    def read_map(self, length: int, depth: int) -> Dict[str, Any]:
        self.enter(length, KEYS_MAX, 2, depth)
        result: Dict[str, Any] = {}
        for _ in range(length):
            key = self.read(DEPTH_MAX)
            if not isinstance(key, str) or key in result or key in UNSAFE_KEYS:
                raise ProtocolError("a map has no key %r" % (key,))
            result[key] = self.read(depth + 1)
        return result

    def enter(self, length: int, most: int, item_bytes: int, depth: int) -> None:
        if depth >= DEPTH_MAX:
            raise ProtocolError("arrays and maps at most %d deep" % DEPTH_MAX)
        if length > most or length * item_bytes > len(self.payload) - self.at:
            raise ProtocolError("%d items, where at most %d are allowed and %d bytes are left" % (length, most, len(self.payload) - self.at))
