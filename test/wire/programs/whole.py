"""Batches, flows, exports and a backup in another language: `whole.py blocking|asyncio URL FILE`. A worker is there, which serves `works`,
`fails` and `ends`; the last one returns how the jobs that it waits for have ended. Says what it finds as JSON."""

import itertools
import os
import sys

from either import connect
from program import millrace, refusal, say


def job(name, data=None, **options):
    return millrace.new_job(name, data, max_attempts=1, **options)


with connect(*sys.argv[1:3]) as client:
    bystander = client.enqueue("nobody", queue="apart", tags=["kept"])
    batch = client.batch([job("works", 1), job("fails"), job("works", 3)], job("ends"), idempotency_key="once")
    say(ends=client.result(batch.callbacks["callback"], timeout=60), again=client.batch([job("works"), job("works"), job("works")], job("ends"), idempotency_key="once") == batch)
    batch = client.batch([job("works"), job("works")], on_success=job("ends"), on_failure=job("ends"), on_end=job("ends"))
    say(callbacks=[list(batch.callbacks), client.result(batch.callbacks["on_success"], timeout=60), refusal(client.result, batch.callbacks["on_failure"], timeout=60)])
    say(
        refused=[
            refusal(client.batch, [job("works")]), refusal(client.batch, [], on_failure=job("ends")), refusal(client.batch, [job("works")], "ends"),
            refusal(client.batch, [job("works")], job("ends"), on_end=job("ends")), refusal(client.batch, [job("works", unique="u")], job("ends")),
        ]
    )
    jobs = list(client.flow_jobs(batch.jobs[1], page=2))
    say(
        flow=[[each.ref, each.state, each.parents, [[other.ref, other.told] for other in each.depends_on]] for each in jobs[:3]],
        same=[each.id for each in jobs] == [str(key) for key in (*batch.jobs, batch.callbacks["on_success"], batch.callbacks["on_end"])],
        times=[jobs[0].finished_at >= jobs[0].run_at, batch.id == jobs[0].id],
        none=[list(client.flow_jobs(bystander)), list(client.flow_jobs(millrace.JobKey(2**40, 1, 1)))],
    )

    wide = client.get(bystander, payload="none")
    said = client.enqueue("nobody", "x" * 1_000, queue="sizes")
    say(sizes=[client.get(said, payload="none").data, client.get(said, payload="none").payload_bytes, client.get(said).payload_bytes, wide.tags])
    (failed,) = client.jobs(name="fails", last_run=True, payload="none")
    say(last=[failed.last_run.error["name"], failed.last_run.run, failed.last_run.ended_at >= failed.last_run.started_at, failed.attempts])
    say(never=[each.last_run for each in client.jobs(queue="sizes", last_run=True)], unasked=[each.last_run for each in client.jobs(name="fails")])

    client.upsert_schedule("a", job("works", queue="one"), every=3600)
    client.upsert_schedule("b", job("other", queue="two"), every=3600)
    say(of=[[each.id for each in client.schedules(queue="two")], [each.id for each in client.schedules(name="works")], len(list(client.schedules()))])

    batches = client.export("archive", page=3)
    first = next(batches)
    say(exported=[len(first.jobs), first.missed, first.gap, all(each.state in ("completed", "failed", "cancelled") for each in first.jobs)])
    say(unconfirmed=[[each.name, each.cursor] for each in client.exports()])
    second = next(batches)
    (info,) = client.exports()
    say(confirmed=[info.cursor > 0, info.behind > 0, {each.id for each in first.jobs}.isdisjoint(each.id for each in second.jobs)])
    again = next(client.export("archive", page=3))
    say(again=[each.id for each in again.jobs] == [each.id for each in second.jobs])
    next(client.export("other", page=3))
    say(deleted=[client.delete_export("archive"), client.delete_export("archive"), [[each.name, each.cursor] for each in client.exports()]])

    size = client.backup(sys.argv[3])
    say(backup=size == os.path.getsize(sys.argv[3]), twice=refusal(client.backup, sys.argv[3]) is not None)
    lines = client.enqueue("logs")
    client.result(lines, timeout=60)
    say(logs=[line.message for line in itertools.chain(client.logs(lines, order="newest", page=2))])
    info = client.get(bystander)
    say(untouched=[info.state, info.tags, info.run])
