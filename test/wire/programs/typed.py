"""A program that mypy reads: it uses what is public, and says what type it expects."""

import asyncio
from datetime import datetime, timezone
from typing import AsyncIterator, Dict, Iterator, List, Optional

import millrace


def produce(url: str) -> List[str]:
    with millrace.connect(url, timeout=5) as client:
        key: millrace.JobKey = client.enqueue("a", {"n": 1}, delay=1.5)
        client.enqueue("a", dealy=1.5)  # type: ignore[call-arg]
        client.enqueue("a", priority="high")  # type: ignore[arg-type]
        options: millrace.JobOptions = {"queue": "q", "keep": "forever"}
        client.enqueue("a", None, **options)
        jobs: List[millrace.NewJob] = [millrace.new_job("a", unique=("k", "skip"), backoff={"type": "fixed", "delay": 1})]
        keys: List[millrace.JobKey] = client.enqueue_many(jobs)
        said: str = client.cancel(str(key), reason="no longer wanted")
        client.result(key, timeout=1)
        info = client.get(key)
        if info is not None and info.started_at is not None and info.timeout is not None:
            print(info.started_at.isoformat(), info.timeout + 1, info.tags[0], [attempt.worker for attempt in info.attempts])
        client.retry(key)
        client.update(key, data={"n": 2}, run_at=info.run_at if info else 0)
        redriven: int = client.redrive("q", limit=5)
        flow: Dict[str, millrace.JobKey] = client.flow({"a": jobs[0], "b": (jobs[0], ["a"], "continue")})
        made: millrace.ScheduleSet = client.upsert_schedule("s", jobs[0], every=60)
        print(redriven, flow["a"].seq, made.created, [line.at.year for line in client.logs(key)])
        filter: millrace.JobFilter = {"state": ["failed", "cancelled"], "data": {"customer": 7}, "finished_before": 1.5}
        retried: millrace.ManyResult = client.retry_many(filter, limit=5, dry_run=True)
        client.cancel_many({"ids": [key, str(key)]}, "wrong file", "ada")
        client.update_many({"queue": "q"}, priority=1, tags=[])
        client.delete_many({"queue": 7})  # type: ignore[typeddict-item]
        client.configure_queue("q", concurrency_limit=2, rate_limit={"limit": 5, "period": 60}, key_tiers={"gold": {"per_key_limit": 2}})
        client.configure_queue("q", concurrency_limit=None)
        client.configure_queue("q", concurency_limit=2)  # type: ignore[call-arg]
        client.configure_queue("q", share="2")  # type: ignore[arg-type]
        why: Optional[millrace.Explanation] = client.explain(key)
        if why is not None and why.causes[0].until is not None:
            print(why.message, why.causes[0].until.isoformat())
        client.cancel(millrace.JobOfKey("a", unique_key="k"))
        client.result(millrace.JobOfKey("a", unique_key="k"))  # type: ignore[arg-type]
        keys_of: Optional[millrace.QueueKeys] = client.queue_keys("q")
        done: List[int] = [point.completed for point in client.history("q", step="hour")]
        kinds: List[millrace.FailureKind] = client.failures(trend=True)
        batch: millrace.Batch = client.batch(jobs, on_success=jobs[0])
        print(batch.callbacks["on_success"].seq, [each.ref for each in client.flow_jobs(batch.id)], client.backup("copy.db") + 1)
        for exported in client.export("archive"):
            print(exported.missed, exported.jobs[0].keep, [info.behind for info in client.exports()])
        print(retried.skipped, keys_of, done, kinds, client.queues_history().total["failed"], client.purge_queue("q", ["failed"]).count)
        counts: int = client.stats().states["completed"]
        names: List[str] = [queue.name for queue in client.queues()] + [job.id for job in client.jobs(state="failed", page=10)]
        for event in client.events(after="now", types=["failed"]):
            print(event.seq + counts, event.type, names)
        return [said, key.parse(str(keys[0])).__str__()]


def crawl(job: millrace.Job) -> Dict[str, int]:
    pages: Iterator[millrace.Parent] = job.join("pages", lambda: [millrace.new_job("page", 1)])
    if job.aborted.is_set() or job.abort_cause == "stop":
        raise millrace.Retry(1.5)
    job.progress(0.5, "half")
    job.log("info", "here", page=1)
    job.save({"page": 1})
    return {page.ref: len(page.state) for page in pages}


def order(job: millrace.Job) -> str:
    def charge(step: millrace.StepContext) -> List[int]:
        return [step.attempt, len(step.key)]

    try:
        paid: List[int] = job.step("charge", charge)
    except millrace.StepFailedError as error:
        return "%s: %s" % (error.step, error.error["message"])
    job.step("charge", lambda: 1)  # type: ignore[arg-type,misc]
    job.sleep("nap", "2d")  # type: ignore[arg-type]
    job.sleep("until", datetime.now(timezone.utc))
    is_new: bool = job.changed("new")
    return "%s %s" % (paid, is_new)


async def order_later(job: millrace.AsyncJob) -> bool:
    async def charge(step: millrace.StepContext) -> str:
        return step.key

    paid, _ = await asyncio.gather(job.step("charge", charge), job.sleep("nap", 5))
    return await job.changed("new") and paid is not None


def work(url: str) -> None:
    handlers = {"crawl": crawl, "order": order}
    worker = millrace.Worker(url, handlers, queues=["urgent", "low*"], order="strict", defaults={"crawl": {"timeout": 60}})
    worker.run()
    worker.stop(timeout=1)


async def crawl_later(job: millrace.AsyncJob) -> List[str]:
    async def pages() -> List[millrace.NewJob]:
        return [millrace.new_job("page", 1)]

    found: AsyncIterator[millrace.Parent] = await job.join("pages", pages)
    return [page.state async for page in found] + [parent.ref async for parent in job.parents()]


async def later(url: str) -> None:
    async with millrace.AsyncClient(url) as client:
        key: millrace.JobKey = await client.enqueue("a")
        states: List[str] = [job.state async for job in client.jobs(key="c1", order="oldest")]
        changed: int = (await client.retry_many({"state": "failed"})).changed
        await client.configure_queue("q", share=changed)
        print(states, await client.result(key))
    await millrace.AsyncWorker(url, {"crawl": crawl_later, "order": order_later}).run()
