"""A producer for asyncio: `async_producer.py URL`. Says what became of its jobs as JSON."""

import asyncio
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import millrace  # noqa: E402


def say(**what):
    print(json.dumps(what), flush=True)


async def refusal(call):
    try:
        return await call
    except millrace.Error as error:
        return error.code


async def main():
    async with millrace.AsyncClient(sys.argv[1]) as client:
        keys = await asyncio.gather(*(client.enqueue("echo", number) for number in range(500)))
        results = await asyncio.gather(*(client.result(key, timeout=60) for key in keys))
        say(same=results == list(range(500)))
        large = await client.enqueue("echo", "x" * (2**20 - 2))
        say(large=len(await client.result(large, timeout=60)))
        await client.enqueue_many([millrace.new_job("nobody", queue="q", tags=["listed"], delay=60) for _ in range(5)])
        jobs = [job async for job in client.jobs(tag="listed", page=2)]
        say(jobs=[job.state for job in jobs], queues=[queue.name async for queue in client.queues(page=1)])
        say(cancelled=await client.cancel(jobs[0].id, reason="no longer wanted"), twice=await refusal(client.cancel(jobs[0].id)))
        info = await client.get(jobs[0].id)
        say(reason=info.cancel_reason, result=await refusal(client.result(info.id)), none=await client.get(millrace.JobKey(2**40, 1, 1)))
        try:
            await client.result(jobs[1].id, timeout=0.01)
        except TimeoutError:
            say(late=True)
        waits = await client.enqueue("nobody")
        say(events=[[each.type, each.job == str(waits)] async for each in take(client.events(job=waits), 1)])
        asked = asyncio.ensure_future(client.result(jobs[2].id, timeout=60))
        await asyncio.sleep(0)
        say(ready=jobs[2].id)
        say(after=await refusal(asked))


async def take(items, count):
    async for item in items:
        yield item
        count -= 1
        if count == 0:
            return


asyncio.run(main())
