"""Which jobs are meant: the filters of lists and of bulk calls, in the order in which the protocol has them."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Tuple

from ._options import JobFilter
from ._schema import FILTER, STATES
from .encoding import choice, encoded, job_key, listed, mapping, trimmed
from .errors import type_error


def filter_fields(wanted: Mapping[str, Any]) -> List[Any]:
    """The fields of a Filter: one state has a field of its own, and all states are no condition. Raises Error (OPTION_TYPE)."""
    state, places = wanted.get("state"), []
    if state is not None:
        states = [state] if isinstance(state, str) else listed("state", state, "one of %s, or a list of some" % ", ".join(STATES))
        if not states:
            raise type_error("state", "at least one state, got an empty list: leave it out for jobs in any state")
        places = sorted({choice("state", each, STATES) for each in states})
    several = places if 1 < len(places) < len(STATES) else None
    options = {name: value for name, value in wanted.items() if name in FILTER}
    return trimmed(encoded(FILTER, {**options, "state": places[0] if len(places) == 1 else None, "states": several}))


def many_filter(wanted: Any) -> Tuple[List[Any], Any, Optional[List[List[Any]]]]:
    """The fields of the Filter of a bulk call, its search, and the keys of its ids, each once. Raises Error (OPTION_TYPE): an empty filter is
    refused, so that nothing meant for some jobs reaches all."""
    said = mapping("filter", wanted, list(JobFilter.__annotations__))
    each_of = [option for option in said if option != "all" and said[option] is not None]
    if said.get("all", True) is not True:
        raise type_error("all", "True, or left out, got %r" % (said["all"],))
    if "all" not in said and not each_of:
        raise type_error("filter", "given with a condition, such as state or queue, or {'all': True} for every job, got %r" % (wanted,))
    if "all" in said and each_of:
        raise type_error("all", "left out, or alone: it means every job, and %s only some" % ", ".join(each_of))
    for option in ("search", "data", "worker", "error", "fingerprint"):
        if said.get("ids") is not None and said.get(option) is not None:
            raise type_error("ids", "left out with %s: give one or the other" % option)
    fields, ids = filter_fields(said), said.get("ids")
    if ids is None:
        return fields, said.get("search"), None
    keys = [tuple(job_key(job)) for job in listed("ids", ids, "a list of ids or keys of jobs")]
    return fields, None, [list(each) for each in dict.fromkeys(keys)]
