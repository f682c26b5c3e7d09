"""Data, outputs and checkpoints: JSON, or bytes as they are."""

from __future__ import annotations

import hashlib
import json
import math
import re
from decimal import Decimal
from typing import Any, Union

from .codec import HALF, SAFE
from .errors import range_error, type_error

Stored = Union[None, str, bytes]

# Only a text with 16 digits in a row can have an integer that JavaScript does not have.
SUSPECT = re.compile(r"\d{16}")


def encode_data(value: Any, what: str = "data") -> Stored:
    """None for nothing, bytes as they are, all else as JSON. Raises Error (OPTION_TYPE; OPTION_RANGE for an integer that JavaScript does not
    have: every reader but Python would see another one)."""
    if value is None or isinstance(value, bytes):
        return value
    return json_text(value, what)


def json_text(value: Any, what: str, allowed: str = "JSON, or bytes") -> str:
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise type_error(what, "%s: %s" % (allowed, error)) from None
    if SUSPECT.search(text):
        json.loads(text, parse_int=lambda digits: _kept(what, digits))
    return _well_formed(text)


def _kept(what: str, digits: str) -> None:
    value = float(digits)
    if math.isinf(value) or (int(value) != int(digits) and _double_text(value) != digits):
        why = "a number cannot hold it" if math.isinf(value) else "it would be stored as %s" % _double_text(value)
        raise range_error(what, SAFE, "sent with the integer %s as a string: %s" % (digits, why))


def _well_formed(text: str) -> str:
    """Letters stay as they are, so that a search finds them; halves of surrogate pairs have no form but the escaped one."""
    return HALF.sub(lambda half: "\\u%04x" % ord(half[0]), text)


def decode_data(data: Stored) -> Any:
    return json.loads(data) if isinstance(data, str) else data


def shown(data: Stored) -> Any:
    """The decoded value, or the stored one if it is no JSON: one corrupt job does not hide the others."""
    try:
        return decode_data(data)
    except ValueError:
        return data


def unique_key(data: Any = None) -> str:
    """The unique key of data, as `unique: { by: 'data' }` makes it elsewhere: `unique=unique_key(data)`. The key of fields is that of
    a dict of their paths: `unique_key({"customer": "c1", "order.id": 7})`. Raises Error (OPTION_RANGE) for a number that JavaScript does
    not have."""
    stored = encode_data(data)
    if isinstance(stored, str):
        stored = _canonical(json.loads(stored)).encode("utf-8")
    return "sha256:" + hashlib.sha256(stored or b"").hexdigest()


def _canonical(value: Any) -> str:
    """JSON as RFC 8785 says: names in the order of their UTF-16 units, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: str(name).encode("utf-16-be", "surrogatepass"))
        return "{%s}" % ",".join(_canonical(name) + ":" + _canonical(value[name]) for name in names)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(_canonical, value))
    if isinstance(value, str):
        return _well_formed(json.dumps(value, ensure_ascii=False))
    return json.dumps(value) if isinstance(value, bool) or value is None else _double_text(float(value))


def _double_text(number: float) -> str:
    if number == 0:
        return "0"
    if number < 0:
        return "-" + _double_text(-number)
    _sign, places, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits, point = "".join(map(str, places)), len(places) + int(exponent)
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    return "%s%se%+d" % (digits[0], digits[1:] and "." + digits[1:], point - 1)
