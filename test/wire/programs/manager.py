"""Manages jobs, queues and schedules in another language: `manager.py URL`. A worker called `fails` is there. Says what it finds as JSON."""

import sys
from datetime import datetime, timedelta, timezone

from program import millrace, refusal, say


with millrace.connect(sys.argv[1]) as client:
    soon = datetime(2100, 1, 1, tzinfo=timezone.utc)
    job = client.enqueue("nobody", {"n": 1}, delay=3600, tags=["old"], meta={"by": "x"}, summary="To Ada")
    client.update(job, data=None, run_at=soon, priority=7, tags=[], meta={"by": "y"})
    info = client.get(job)
    say(updated=[info.data, info.run_at == soon, info.priority, info.tags, info.meta, info.weight, info.summary])
    client.run_now(str(job))
    say(due=client.get(job).state, cancelled=client.cancel(job, reason="wrong", by="ada"), by=client.get(job).cancelled_by)
    client.retry(job)
    say(retried=client.get(job).state, finished=refusal(client.retry, millrace.JobKey(2**40, 1, 1)))
    client.delete(job)
    say(deleted=client.get(job))

    broken = client.enqueue_many([millrace.new_job("fails", max_attempts=1, queue="broken") for _ in range(3)])
    for each in broken:
        refusal(client.result, each, timeout=60)
    client.pause_queue("broken")
    say(paused=client.queue("broken").paused, redriven=[client.redrive("broken", limit=2), client.redrive("broken"), client.redrive()])
    client.resume_queue("broken")
    say(failed=[refusal(client.result, each, timeout=60) for each in broken], resumed=client.queue("broken").paused)
    client.pause_queue("broken", name="fails", duration=3600)
    client.pause_queue("broken", key="k")
    queue = client.queue("broken")
    (end,) = queue.pause_ends
    left = end["until"] - datetime.now(timezone.utc)
    say(parts=[queue.paused, queue.paused_jobs, queue.paused_keys, end["job"], timedelta(minutes=50) < left <= timedelta(hours=1)])
    client.pause_all()
    before = client.stats().paused
    client.resume_all()
    say(all=[before, client.stats().paused], none=[client.queue("none"), refusal(client.pause_queue, "none")])

    keys = client.flow(
        {
            "a": millrace.new_job("nobody"),
            "b": millrace.new_job("nobody"),
            "c": (millrace.new_job("nobody"), ["a", "b"], "continue"),
            "d": (millrace.new_job("nobody"), ("c",)),
        },
        idempotency_key="once",
    )
    say(flow=[client.get(key).state for key in keys.values()], ref=client.get(keys["c"]).flow.ref, on=client.get(keys["c"]).flow.on_parent_failure)
    say(again=client.flow({each: millrace.new_job("nobody") for each in keys}, idempotency_key="once") == keys)
    say(tree=client.cancel(keys["c"], descendants=True))

    made = client.upsert_schedule("nightly", millrace.new_job("report", {"n": 1}, priority=3), cron="0 3 * * *", timezone="Europe/Berlin", jitter=60)
    schedule = client.schedule("nightly", times=2)
    say(made=[made.created, made.next_run_at == schedule.next_run_at, len(schedule.next_runs)], spec=schedule.spec, job=schedule.job)
    same = client.upsert_schedule("nightly", millrace.new_job(**schedule.job), **schedule.spec, unchanged_since=schedule.updated_at)
    say(same=[same.created, same.next_run_at == made.next_run_at, client.schedule("nightly").spec == schedule.spec])
    every = {"every": 90.5, "start_at": soon, "end_at": soon + timedelta(days=1), "overlap": "queue", "catch_up": "all", "max_runs": 3}
    client.upsert_schedule("often", millrace.new_job("report"), paused=True, catch_up_within=5, **every)
    often = client.schedule("often")
    say(often=[{name: often.spec[name] for name in every} == every, often.spec["catch_up_within"], often.paused, often.next_run_at])
    taken = refusal(client.upsert_schedule, "often", millrace.new_job("report"), every=60, create_only=True)
    changed = refusal(client.upsert_schedule, "often", millrace.new_job("report"), every=60, unchanged_since=1)
    say(taken=taken, changed=changed, invalid=refusal(client.upsert_schedule, "x", millrace.new_job("a"), cron="no cron"))
    client.resume_schedule("often")
    client.pause_schedule("nightly")
    say(turned=[client.schedule(each).paused for each in ("often", "nightly")])
    came = client.get(client.trigger_schedule("nightly", meta={"by": "hand"}))
    say(came=[came.name, came.data, came.meta["by"], came.priority], last=client.schedule("nightly").last_job == came.id)
    client.delete_schedule("often")
    say(left=[each.id for each in client.schedules()], gone=[client.schedule("often"), refusal(client.delete_schedule, "often")])
    client.enqueue("nobody", {"text": "gr\u00fc\u00dfe"})
    say(found=[each.data for each in client.jobs(search="\u00fc\u00dfe")])
    logged = client.enqueue("logs")
    client.result(logged, timeout=60)
    lines = list(client.logs(logged, page=2))
    say(logs=[[line.number, line.level, line.message, line.fields] for line in lines], utc=str(lines[0].at.tzinfo))
    walked = client.enqueue("walks")
    refusal(client.result, walked, timeout=60)
    found = client.steps(walked)
    first = client.steps(walked, limit=1)
    client.retry(walked, from_="two")
    refusal(client.result, walked, timeout=60)
    again = client.steps(walked).steps
    say(
        steps=[[step.name, step.value, step.error and step.error["name"]] for step in found.steps],
        page=[first.steps[0].name, first.next],
        retried=again[0].run,
        again=[step.name for step in again],
    )
