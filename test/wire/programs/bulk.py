"""Many jobs and their queues in another language: `bulk.py blocking|asyncio URL`. Each call has a bystander, which it must leave alone. Says what it finds
as JSON."""

import sys
from datetime import datetime, timedelta, timezone

from either import connect
from program import millrace, refusal, say


def counts(result):
    return [result.matched, result.changed, result.skipped]


def job(*options, **more):
    return millrace.new_job("nobody", *options, **more)


with connect(*sys.argv[1:3]) as client:
    jobs = client.enqueue_many([job({"customer": n % 2}, queue="mail", tags=["n%d" % n], delay=3600, meta={"n": n}) for n in range(6)])
    bystander = client.enqueue("nobody", {"customer": 0}, queue="other", tags=["n0"], delay=3600)

    def states(keys=jobs):
        return [client.get(key).state for key in keys]

    def untouched():
        info = client.get(bystander)
        return [info.state, info.priority, info.weight, info.tags, info.meta, info.run]

    before = untouched()
    say(none=counts(client.cancel_many({"queue": "mail", "data": {"customer": 0}}, dry_run=True)), left=set(states()) == {"scheduled"})
    say(cancelled=counts(client.cancel_many({"queue": "mail", "data": {"customer": 0}}, "wrong", "ada", limit=2)), states=states())
    say(by=[client.get(jobs[4]).cancelled_by, client.get(jobs[4]).cancel_reason, client.get(jobs[0]).cancelled_by])
    assert counts(client.cancel_many({"flow": jobs[0]}, dry_run=True)) == counts(client.cancel_many({"queue": "none"}, dry_run=True))
    say(again=counts(client.cancel_many({"ids": jobs[:4] + jobs[:1]})), states=states())
    say(updated=counts(client.update_many({"queue": "mail", "tag": "n5"}, priority=7, weight=2, max_attempts=9, timeout=60, tags=["moved"], meta={"by": "x"})))
    info = client.get(jobs[5])
    say(now=[info.priority, info.weight, info.tags, info.meta], old=client.get(jobs[4]).priority)
    say(ran=counts(client.run_now_many({"queue": "mail", "state": "scheduled"})), states=states())
    retried = client.retry_many({"queue": "mail", "state": ["cancelled", "failed"], "finished_before": datetime.now(timezone.utc) + timedelta(1)})
    say(retried=counts(retried), states=states())
    say(found=sorted(each.tags[0] for each in client.jobs(queue="mail", data={"customer": 1}, page=1)))
    say(searched=counts(client.cancel_many({"queue": "mail", "search": "moved"})), states=states())
    say(deleted=counts(client.delete_many({"ids": [str(jobs[0]), millrace.JobKey(2**40, 1, 1)], "queue": "mail"})), gone=client.get(jobs[0]))
    say(empty=[refusal(client.delete_many, {}), refusal(client.delete_many, {"state": None}), refusal(client.delete_many, {"all": True, "queue": "mail"})])
    say(untouched=untouched() == before)

    orders = client.enqueue_many([job(queue="orders", delay=3600 - n) for n in range(3)])
    ids = [str(key) for key in orders]
    listed = {
        order: [ids.index(each.id) for each in client.jobs(queue="orders", state="scheduled", order=order, page=2)]
        for order in ("newest", "oldest", "due")
    }
    say(orders=listed, refused=[refusal(lambda: list(client.jobs(order=order))) for order in ("finished", "due")])

    held = client.enqueue("keyed", 1, queue="keys", unique="u", delay=3600)
    once = client.enqueue("keyed", 2, queue="keys", idempotency_key="i", delay=3600)
    by_unique, by_once = millrace.JobOfKey("keyed", unique_key="u"), millrace.JobOfKey("keyed", idempotency_key="i")
    client.update(by_unique, priority=5)
    client.run_now(by_once)
    say(keyed=[client.get(by_unique).id == str(held), client.get(held).priority, client.get(once).priority, client.get(once).state])
    say(key=[client.cancel(by_once, "no longer", "ada"), client.get(once).cancel_reason, client.get(held).state])
    client.retry(by_once)
    say(freed=[client.get(once).state, client.release_key(by_unique), client.release_key(by_unique), client.get(by_unique)])
    client.delete(by_once)
    say(gone=[client.get(once), refusal(client.delete, by_once), refusal(client.explain, by_once), client.get(held).state])

    many = client.enqueue_many([job(queue="large") for _ in range(1_203)])
    say(large=counts(client.cancel_many({"queue": "large", "state": "waiting"}, limit=1_100)), left=client.queue("large").states["waiting"])
    say(ids=counts(client.delete_many({"ids": many[-250:]})), purged=vars(client.purge_queue("large", dry_run=True)))
    say(some=vars(client.purge_queue("large", ["waiting"])), kept=refusal(client.delete_queue, "large"))
    say(all=vars(client.purge_queue("large")), forgotten=[client.delete_queue("large"), client.delete_queue("large"), client.queue("large")])
    say(untouched=untouched() == before, others=client.queue("mail").states["waiting"])
