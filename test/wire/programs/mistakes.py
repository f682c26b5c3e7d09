"""Calls of every public method with arguments that are wrong: `mistakes.py URL PART...`, each part a fourth of them, from 0 to 3.
Says as JSON what was not refused as it should be."""

import inspect
import json
import math
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import millrace  # noqa: E402

VALUES = [
    None, True, -1, 0.5, 7, 10**30, math.nan, math.inf, "", "a b", "x" * 600, "\ud800", "\0", b"x", [], [None], ["x"], {}, {"a": object()}, (), object(),
    "x" * 10_000, "gr\u00fc\u00dfe", "\U0001f600", 2**53, {"limit": 1}, {"limit": 1, "period": math.nan}, {"a": {"per_key_limit": 0}}, {"completed": "ever"},
    {"state": "dead"}, {"stat": "failed"}, {"data": {}}, {"data": [10**400]}, {"ids": "x"}, {"all": False}, {"meta": math.nan}, {"timeout": "1"},
    millrace.JobOfKey("a"), millrace.JobOfKey("a", unique_key="\ud800"), millrace.JobOfKey("x" * 10_000, unique_key="u"),
    [["a"]], [millrace.new_job("a")], millrace.new_job("a", unique="k"), {"a": (millrace.new_job("a"), ["b"])}, {"type": "none"}, ("k", "sometimes"),
]
JOB = millrace.JobKey(1, 2, 3)
GOOD = {
    "name": "a", "job": JOB, "jobs": [], "nodes": {"a": millrace.new_job("a")}, "queue": "q", "id": "s", "op": "stats", "timeout": 0,
    "filter": {"queue": "none"}, "worker": "none", "of": millrace.JobOfKey("a", unique_key="u"),
}
# Options that methods take as `**options`, or that the others need beside them.
OPTIONS = {
    "enqueue": list(inspect.signature(millrace.new_job).parameters)[2:],
    "configure_queue": list(millrace.QueueSettings.__annotations__),
    "jobs": list(millrace.JobFilter.__annotations__),
}
BESIDE = {
    "upsert_schedule": {"job": millrace.new_job("a"), "every": 60}, "update": {"priority": 1}, "update_many": {"priority": 1},
    "drain_queue": {"timeout": 0},
}
FILTERS = [option for option in millrace.JobFilter.__annotations__ if option != "all"]
# Two wait for what comes, and a backup writes files.
OTHERS = {"call", "close", "events", "export", "backup", "pause_all", "resume_all"}


def attempts(client):
    for name, method in inspect.getmembers(client, inspect.ismethod):
        if name.startswith("_") or name in OTHERS:
            continue
        parameters = inspect.signature(method).parameters.values()
        taken = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
        good = {each.name: GOOD[each.name] for each in parameters if each.default is each.empty and each.name in GOOD}
        for option in dict.fromkeys(taken + OPTIONS.get(name, [])):
            for value in VALUES:
                yield name, method, {**good, **BESIDE.get(name, {}), option: value}, option, value
        for option, value in ((option, value) for option in FILTERS for value in VALUES if "filter" in good):
            yield name, method, {**good, **BESIDE.get(name, {}), "filter": {option: value}}, option, value
        yield name, method, {**good, "dealy": 1}, "dealy", 1


with millrace.connect(sys.argv[1]) as client:
    connection, count, wrong, parts = client._calls.open(), 0, [], set(map(int, sys.argv[2:]))
    for index, (name, method, arguments, option, value) in enumerate(attempts(client)):
        if index % 4 not in parts:
            continue
        count += 1
        told = "%s(%s=%r)" % (name, option, value)
        try:
            answer = method(**arguments)
            if hasattr(answer, "__next__"):
                next(answer, None)
        except TypeError as error:
            if name not in str(error):
                wrong.append("%s: %r" % (told, error))
        except TimeoutError:
            pass
        except millrace.Error as error:
            if len(str(error)) > 1_000:
                wrong.append("%s: a message of %d characters" % (told, len(str(error))))
            mine = error.code in ("OPTION_TYPE", "OPTION_RANGE")
            if error.code in ("CONNECTION_LOST", "PROTOCOL", "BAD_FRAME") or (mine and not error.message.startswith(name + "(): ")):
                wrong.append("%s: %s" % (told, error))
        except Exception as error:
            wrong.append("%s: %r" % (told, error))
        if client._calls.opened() is not connection:
            wrong.append("%s has ended the connection" % told)
            connection = client._calls.open()
    print(json.dumps({"count": count, "wrong": wrong}))
