"""A worker for asyncio: `async_worker.py URL NAME`. What its handlers do is said line by line; SIGTERM stops it, SIGUSR1 cancels its task."""

import asyncio
import pathlib
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import millrace  # noqa: E402


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def double(job):
    await asyncio.sleep(0)
    return job.data * 2


async def broken(job):
    if job.attempt == 1:
        job.save({"attempt": 1})
        job.progress(0.5, "half")
        job.log("warn", "begun", page=1)
        raise millrace.Retry(0)
    raise ValueError("no such thing after %s" % job.checkpoint)


async def long(job):
    """Until it is cancelled."""
    say("long", job.run, job.id)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        say("cancelled", job.run, job.abort_cause)
        raise


async def stuck(job):
    """Ignores that it is cancelled."""
    say("stuck", job.run)
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            say("ignored", job.abort_cause)


async def blocks(job):
    """Holds up the event loop until the test says a word."""
    say("blocks", job.run)
    return [sys.stdin.readline().strip(), job.run]


async def crawl(job):
    async def pages():
        return [millrace.new_job("double", number) for number in range(job.data)]

    return [page.output async for page in await job.join("pages", pages)]


async def inherits(job):
    return [parent.output async for parent in job.parents()]


async def order(job):
    """Parallel steps race with a sleep; a later run gets the same winner. The last step fails in the run that the data names."""

    async def hangs(step):
        say("hangs", job.run)
        await asyncio.Event().wait()

    def send(step):
        say("send", job.run, step.attempt)
        if job.run == job.data:
            raise ValueError("no way")
        return "sent"

    seats = await asyncio.gather(*(job.step("seat %d" % seat, lambda step: step.attempt) for seat in range(3)))
    charge = asyncio.ensure_future(job.step("charge", hangs))
    done, _ = await asyncio.wait([charge, asyncio.ensure_future(job.sleep("late", 0.05))], return_when=asyncio.FIRST_COMPLETED)
    charge.cancel()
    await job.sleep("nap", 3600)
    return [seats, charge in done, await job.step("send", send)]


async def main():
    url, name = sys.argv[1:]
    handlers = {each.__name__: each for each in (double, broken, long, stuck, blocks, crawl, inherits, order)}
    worker = millrace.AsyncWorker(url, handlers, concurrency=8, name=name, abort_grace=0.05)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, worker.stop, 0)
    loop.add_signal_handler(signal.SIGUSR1, asyncio.current_task().cancel)
    try:
        await worker.run()
    except millrace.Error as error:
        say("refused", error.code)
    except asyncio.CancelledError:
        say("given up")
    else:
        say("stopped")


asyncio.run(main())
