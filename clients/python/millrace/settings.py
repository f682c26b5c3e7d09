"""The settings of a queue: a map by the names of the protocol, in milliseconds."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, TypedDict

from ._schema import DEFAULTS, NAMES
from .encoding import ENCODERS, FOREVER, choice, keep, mapping, milliseconds, scalar

KEPT = ("completed", "failed", "cancelled")
DURATIONS = frozenset(("period", "age"))
CAMEL = {name: camel for camel, name in NAMES.items()}


class QueueSettings(TypedDict, total=False):
    """The settings of `configure_queue`. None removes one."""

    concurrency_limit: Optional[int]
    shared_limit: Optional[Mapping[str, Any]]
    per_key_limit: Optional[int]
    key_order: Optional[str]
    rate_limit: Optional[Mapping[str, Any]]
    per_key_rate_limit: Optional[Mapping[str, Any]]
    key_tiers: Optional[Mapping[str, Mapping[str, Any]]]
    max_length: Optional[int]
    on_full: Optional[str]
    share: Optional[int]
    fairness: Optional[str]
    dead_letter: Optional[str]
    repeats: Optional[str]
    retention: Optional[Mapping[str, Any]]
    defaults: Optional[Mapping[str, Any]]


SETTINGS = list(QueueSettings.__annotations__)


def changes_of(settings: Mapping[str, Any]) -> Dict[str, Any]:
    return {CAMEL.get(name, name): None if value is None else _setting(name, value) for name, value in settings.items()}


def _setting(option: str, value: Any) -> Any:
    if option == "defaults":
        return {CAMEL.get(name, name): _default(name, each) for name, each in _given(option, value, list(DEFAULTS)).items()}
    if option == "retention":
        return {state: _kept("%s.%s" % (option, state), kept) for state, kept in _given(option, value, KEPT).items()}
    return _plain(option, value)


def _given(option: str, value: Any, known: Any) -> Dict[str, Any]:
    return {name: each for name, each in mapping(option, value, known).items() if each is not None}


def _default(name: str, value: Any) -> Any:
    _place, kind = DEFAULTS[name]
    if isinstance(kind, dict):
        said = mapping(name, value, kind)
        return {CAMEL.get(each, each): _part("%s.%s" % (name, each), kind[each][1], of) for each, of in said.items() if of is not None}
    return ENCODERS[kind](name, value)


def _part(option: str, kind: Any, value: Any) -> Any:
    """Words stay words in a map."""
    if isinstance(kind, tuple):
        return kind[choice(option, value, kind)]
    return value if isinstance(value, str) and kind == "jitter" else ENCODERS[kind](option, value)


def _kept(option: str, value: Any) -> Any:
    return _plain(option, value) if isinstance(value, Mapping) else value if value == FOREVER else milliseconds(option, value)


def _plain(option: str, value: Any) -> Any:
    """A value with its names and times as the protocol has them; the names of tiers stay as they are."""
    if isinstance(value, Mapping):
        said = {name: _plain("%s.%s" % (option, name), each) for name, each in value.items() if each is not None}
        return said if option == "key_tiers" else {CAMEL.get(name, name): each for name, each in said.items()}
    if option.rpartition(".")[2] in DURATIONS:
        return keep(option, value)
    return scalar(option, value)
