"""Options that the server refuses, each by a call of its own: `refusals.py URL`. Says as JSON which of them were not refused by the name and in
the units that the option has in Python."""

import json
import math
import re
import sys

from program import millrace
from millrace import _options, _schema

JOB = millrace.new_job("a")
RATE = {"limit": 1}
# By the option that the error names: values of the option that precedes the first dot, or the arguments of a call.
OF_JOBS = {
    "queue": ["", "a b", 7, "x" * 129],
    "priority": [0.5, 1_000_001, "1", True],
    "delay": [-1],
    "run_at": [math.inf, -1, 8_640_000_000_001],
    "idempotency_key": ["", "\U0001f600" * 257, "\ud800"],
    "unique.key": [("", "skip")],
    "max_attempts": [0],
    "timeout": [0, 1e-10],
    "heartbeat_timeout": [-1],
    "backoff.delay": [{"type": "fixed"}, {"type": "fixed", "delay": -1}],
    "backoff.factor": [{"type": "linear", "delay": 1, "factor": 0.5}],
    "backoff.jitter": [{"type": "linear", "delay": 1, "jitter": 2}],
    "ttl": [0],
    "idempotency_ttl": [0],
    "weight": [0],
    "concurrency_key": [7],
    "summary": ["", "x" * 201],
    "tags": [["a"] * 33],
    "meta": ["x" * 16_384],
    "debounce.delay": [{"key": "k", "delay": 0}],
    "debounce.key": [{"delay": 1}],
    "debounce.max_delay": [{"key": "k", "delay": 2, "max_delay": 1}],
    "throttle.period": [{"key": "k", "period": 0}, {"key": "k"}],
    "max_age": [0],
    "tokens": [0],
    "max_lost": [-1],
    "keep": [-1],
    "log_lines": [10_001],
}
OF_FILTERS = {
    "queue": ["a b", "x" * 10_000],
    "name": ["a b"],
    "tag": [""],
    "key": ["\ud800"],
    "schedule": ["a b"],
    "retrying": [1],
    "enqueued_after": [-1],
    "enqueued_before": [math.inf],
    "finished_after": [-1],
    "finished_before": [-1],
    "worker": [""],
    "error": ["x" * 513],
    "data": [{}, [], "x" * 1_023],
    "meta": [{}],
}
OF_SETTINGS = {
    "concurrency_limit": [0, 1_000_001],
    "shared_limit.name": [{"name": "a b", "limit": 1}],
    "shared_limit.limit": [{"name": "a", "limit": 0}],
    "per_key_limit": ["2"],
    "key_order": ["fifo"],
    "rate_limit.limit": [{"period": 1}],
    "rate_limit.period": [{**RATE, "period": period} for period in (0, -1, math.inf, 366 * 86_400)],
    "per_key_rate_limit.burst": [{**RATE, "burst": 0}],
    "key_tiers": [{"a:b": {"per_key_limit": 1}}],
    "key_tiers.gold": [{"gold": {}}],
    "key_tiers.gold.per_key_limit": [{"gold": {"per_key_limit": 0}}],
    "max_length": [10**10],
    "on_full": ["drop"],
    "share": [1_001],
    "fairness": ["key"],
    "dead_letter": [""],
    "repeats": ["loud"],
    "empties": ["loud"],
    "alert_after": [0],
    "retention.failed": [{"failed": -1}],
    "retention.failed.count": [{"failed": {"count": -1}}],
    "defaults.timeout": [{"timeout": 0}],
}
OF_SCHEDULES = {
    "cron": ["x" * 257],
    "timezone": ["x" * 129],
    "every": [0.5],
    "start_at": [-1],
    "end_at": [-1],
    "jitter": [86_401],
    "catch_up_within": [0],
    "max_runs": [0],
}
# Words have no place of their own in a message: what is none of them is refused before it is sent. Of a job id, a part is refused.
UNSENDABLE = {"state", "fingerprint", "flow", "overlap", "catch_up", "defaults", "retention"}
OTHERS = {
    "limit": lambda: client.failures(limit=201),
    "page": lambda: next(client.jobs(page=201)),
    "duration": lambda: client.pause_queue("q", duration=0),
    "name": lambda: client.pause_queue("q", name="a b"),
    "job.seq": lambda: client.get((2**48, 1, 1)),
    "flow.seq": lambda: client.delete_many({"flow": (2**48, 1, 1)}),
    "start_at": lambda: client.history(start_at=-1),
    "times": lambda: client.schedule("s", 1_001),
    "file": lambda: client.backup(""),
    "jobs": lambda: client.enqueue_many([JOB] * 10_001),
    "jobs[1].timeout": lambda: client.enqueue_many([JOB, millrace.new_job("a", timeout=0)]),
    "job.timeout": lambda: client.upsert_schedule("s", millrace.new_job("a", timeout=0), every=60),
    "order": lambda: next(client.jobs(order="finished")),
    "unchanged_since": lambda: client.upsert_schedule("s", JOB, every=60, unchanged_since=-1),
    "job.name": lambda: client.release_key(millrace.JobOfKey("a b", unique_key="u")),
}

client = millrace.connect(sys.argv[1])
connection, wrong, count = client._calls.open(), [], 0


def refuse(option, method, call):
    global count
    count += 1
    try:
        call()
        told = "was accepted"
    except millrace.Error as error:
        told = "%s %s" % (error, error.details)
        named = option if method is None else "%s(): %s" % (method, option)
        is_plain = not re.search(r"\d ms\b|\bnil\b", error.message) and not any(name in error.message for name in _schema.NAMES)
        if error.code in ("OPTION_TYPE", "OPTION_RANGE") and error.details["option"].split("[")[0] == option.split("[")[0] and is_plain:
            if option.split(".")[0] in error.message and (method is None or error.message.startswith(method + "(): ")):
                return
    wrong.append("%s: %s" % (option, told))


def refuse_all(method, options, call):
    for option, values in options.items():
        for value in values:
            refuse(option, method, lambda: call(option.split(".")[0], value))


refuse_all("enqueue", OF_JOBS, lambda option, value: client.enqueue("a", **{option: value}))
refuse_all("delete_many", OF_FILTERS, lambda option, value: client.delete_many({option: value}))
refuse_all("upsert_schedule", OF_SCHEDULES, lambda option, value: client.upsert_schedule("s", JOB, **{"every": None if option in ("cron", "timezone") else 60, option: value}))
for option, values in OF_SETTINGS.items():
    for value in values:
        first = option.split(".")[0]
        settings = {first: value}
        refuse(option, "configure_queue", lambda: client.configure_queue("q", **settings))
for option, call in OTHERS.items():
    refuse(option, None, call)
tables = {"jobs": (list(_schema.NEW_JOB)[2:], OF_JOBS), "filters": (list(_options.OtherFilters.__annotations__), OF_FILTERS)}
tables.update(settings=(list(millrace.QueueSettings.__annotations__), OF_SETTINGS), schedules=(list(_schema.SCHEDULE), OF_SCHEDULES))
missing = {name: [each for each in known if each not in {of.split(".")[0] for of in tested} | UNSENDABLE] for name, (known, tested) in tables.items()}
print(json.dumps({"wrong": wrong, "missing": missing, "same": client._calls.opened() is connection, "count": count}))
client.close()
