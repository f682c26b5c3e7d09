"""Queues, their figures and what holds jobs in another language: `settings.py blocking|asyncio URL`. A worker called `one` is there, which serves `works` and
`fails` alone, and a bystander. Says what it finds as JSON."""

import math
import sys
from datetime import datetime, timedelta, timezone

from either import connect
from program import millrace, refusal, say


SETTINGS = {
    "concurrency_limit": 8,
    "shared_limit": {"name": "gpu", "limit": 4},
    "per_key_limit": 2,
    "rate_limit": {"limit": 100, "period": 0.5, "burst": 20},
    "per_key_rate_limit": {"limit": 1, "period": 3600, "burst": 3},
    "key_tiers": {"gold": {"per_key_limit": 5}, "free": {"per_key_rate_limit": {"limit": 1, "period": 60, "burst": 1}}},
    "max_length": 1_000,
    "on_full": "drop-oldest",
    "share": 3,
    "fairness": "name",
    "dead_letter": "dead",
    "repeats": "event",
    "empties": "event",
    "alert_after": 2.5,
    "retention": {"completed": {"age": 60, "count": 10}, "failed": "forever"},
    "defaults": {
        "priority": 5, "weight": 2, "tokens": 3, "max_attempts": 7, "max_lost": 1, "max_age": 86_400, "timeout": math.inf,
        "backoff": {"type": "exponential", "delay": 1.5, "factor": 3, "max_delay": 60, "jitter": "full"}, "heartbeat_timeout": 0, "ttl": 5,
        "keep": "forever", "log_lines": 10,
    },
}

with connect(*sys.argv[1:3]) as client:
    client.configure_queue("bystander", concurrency_limit=3)
    client.configure_queue("media", **SETTINGS)
    read = client.queue("media").settings
    say(same=read == SETTINGS, differs={name: read.get(name) for name in SETTINGS if read.get(name) != SETTINGS[name]})
    client.configure_queue("copy", **read)
    say(copied=client.queue("copy").settings == read)
    client.configure_queue("media", concurrency_limit=None, share=4)
    now = client.queue("media").settings
    say(changed=["concurrency_limit" in now, now["share"], now["shared_limit"], client.queue("bystander").settings])
    given = client.get(client.enqueue("nobody", queue="media"))
    say(defaults=[given.priority, given.tokens, given.max_attempts, given.max_lost, given.keep, given.timeout, given.log_lines])
    own = client.get(client.enqueue("nobody", queue="media", keep=60, tokens=1, max_lost=0, log_lines=7))
    say(own=[own.keep, own.tokens, own.max_lost, own.log_lines])
    client.configure_queue("media", **dict.fromkeys(SETTINGS))
    say(cleared=client.queue("media").settings, copy=client.queue("copy").settings == read)
    say(together=[refusal(client.configure_queue, "copy", key_order="strict"), client.queue("copy").settings == read])

    client.configure_queue("rates", rate_limit={"limit": 5, "period": 3600}, per_key_rate_limit={"limit": 2, "period": 3600})
    started = client.enqueue_many([millrace.new_job("works", queue="rates", concurrency_key="c1", tokens=2) for _ in range(2)])
    client.result(started[0], timeout=60)
    bucket, keys = client.queue("rates").rate, client.queue_keys("rates")
    hour = bucket["next_at"] - datetime.now(timezone.utc)
    say(bucket=[bucket["tokens"], timedelta(0) < hour <= timedelta(hours=1)])
    (key,) = keys.keys
    say(keys=[key.key, key.waiting, key.active, key.rate["tokens"], keys.tracked, keys.partial], none=client.queue_keys("none"))

    why = client.explain(started[1])
    say(why=[why.state, why.message.split(" until ")[0], [cause.code for cause in why.causes], why.causes[0].of, why.causes[0].until.tzinfo is not None])
    unserved = client.enqueue("nobody", queue="bystander")
    client.pause_queue("bystander", duration=3600)
    why = client.explain(str(unserved))
    say(held=[why.id == str(unserved), [cause.code for cause in why.causes], why.causes[0].until > datetime.now(timezone.utc)])
    say(ended=client.explain(started[0]).message, unknown=client.explain(millrace.JobKey(2**40, 1, 1)))
    failed = [client.enqueue("fails", n, max_attempts=1, queue="broken") for n in range(3)]
    for each in failed:
        refusal(client.result, each, timeout=60)
    (kind,) = client.failures("broken", trend=True)
    say(failures=[kind.error, kind.message, kind.count, kind.job == str(failed[2]), sum(kind.trend)], none=client.failures("bystander"))
    say(of_kind=len(list(client.jobs(fingerprint=kind.fingerprint))), of_error=len(list(client.jobs(error="RangeError", worker="one"))))
    hour = sum(point.failed for point in client.history("broken", step="hour"))
    say(history=[hour, sum(point.failed for point in client.history("broken")), client.history("broken", start_at=4_000_000_000), client.history("none")])
    whole = client.queues_history(1, step="hour")
    say(queues=[sum(whole.total["failed"]), len(whole.queues), whole.step, whole.queues_left_out, len(client.queues_history(0).queues)])

    say(drained=[client.drain_queue("broken"), refusal(client.enqueue, "works", queue="broken"), client.queue("bystander").states["waiting"]])
    try:
        client.drain_queue("bystander", timeout=0.01)
    except TimeoutError:
        say(late=client.queue("bystander").settings["draining"])
    client.resume_queue("bystander")
    say(resumed="draining" in client.queue("bystander").settings)
    say(stopped=[client.stop_worker("one", timeout=0), refusal(client.stop_worker, "none")])
