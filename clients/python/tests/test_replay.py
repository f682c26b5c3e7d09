"""Random programs of durable calls, killed, put to sleep and tried again at random: every run gets the same results in the same order."""

import asyncio
import os
import random
import unittest
from concurrent.futures import Future

from millrace.async_durable import AsyncDurable
from millrace.async_worker import AsyncJob

from .support import Engine, grant

SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
RUNS = int(os.environ.get("RUNS", 100))
MAX_ATTEMPTS = 3
FOREVER = 1_000_000
GROUPS = hasattr(asyncio, "TaskGroup")
# In turns of the event loop: within those that lie before a delivery, and beyond.
LATENCIES = (0, 1, 2, 30, 80)


async def turns(count):
    for _ in range(count):
        await asyncio.sleep(0)


class Worker:
    """The worker of one run, whose answers take some turns of the loop, and which is killed at any of them."""

    _stopping = False

    def __init__(self, engine, chance):
        self.engine, self.chance, self.is_alive = engine, chance, True

    def ask(self, job, op, *fields):
        future = Future()

        async def answer():
            await turns(self.chance.choice(LATENCIES))
            if self.is_alive:
                said = self.engine.answer(op, fields)
                await turns(self.chance.choice(LATENCIES))
                if self.is_alive:
                    future.set_result(said)

        self.task = asyncio.ensure_future(answer())
        return future

    def check(self, what, data, beside):
        pass

    def suspend(self, job, ending):
        job.ending, job.abort_cause = ending, "suspended"


class Calls(AsyncDurable):
    def _timer(self, seconds, then):
        """Counts turns: enough of them for whatever comes first, and soon over."""

        async def wait():
            await turns(5_000 if seconds == 1 else 100)
            then()

        return asyncio.ensure_future(wait()).cancel


class Handler(AsyncJob):
    def _durable_calls(self):
        self._calls = Calls(self)
        return self._calls


def program(chance, depth=3):
    """A program, and what it does in order."""
    is_leaf = depth == 0 or depth < 3 and chance.random() < 0.4
    kind = chance.choice(["step"] * 4 + ["sleep"] * 4 + ["turns"]) if is_leaf else "tree"
    if kind == "step":
        return ("step", chance.choice([0, 0, 0, 0, 1, 9]), chance.choice([0, 1, 2, 3, 40, 120, 250]))
    if kind == "sleep":
        return ("sleep", chance.choice((0, 1, 3, 8, 20)))
    if kind == "turns":
        return ("turns", chance.randrange(5))
    how = chance.choice(["sequence", "sequence", "all", "race", "cancelling", "any", "settled", *(["group"] if GROUPS else [])])
    return (how, [program(chance, depth - 1) for _ in range(chance.randrange(1, 5))])


class Run:
    """One run of a program: what it sees, and how it ends."""

    def __init__(self, job, engine):
        self.job, self.engine, self.seen = job, engine, []

    def note(self, *words):
        if self.job.abort_cause is None:
            self.seen.append(" ".join(map(str, words)))

    async def do(self, each, name):
        how, *rest = each
        try:
            value = await getattr(self, how)(name, *rest)
        except Exception as error:
            self.note(name, "raises", error)
            raise
        self.note(name, how, value)
        return value

    async def step(self, name, fails, ticks):
        async def fn(step):
            await turns(ticks)
            call = self.engine.calls[name] = self.engine.calls.get(name, 0) + 1
            if call <= fails:
                raise ValueError("%s fails" % name)
            return {"name": name, "call": call}

        return await self.job.step(name, fn)

    async def sleep(self, name, delay):
        await self.job.sleep(name, delay / 1000)
        return name

    async def turns(self, name, count):
        await turns(count)
        return name

    async def sequence(self, name, of):
        return [await self.do(each, "%s.%d" % (name, place)) for place, each in enumerate(of)][-1]

    def begun(self, name, of):
        return [asyncio.ensure_future(self.do(each, "%s.%d" % (name, place))) for place, each in enumerate(of)]

    async def all(self, name, of):
        return await asyncio.gather(*self.begun(name, of))

    async def settled(self, name, of):
        return [repr(each) for each in await asyncio.gather(*self.begun(name, of), return_exceptions=True)]

    async def group(self, name, of):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.do(each, "%s.%d" % (name, place))) for place, each in enumerate(of)]
        return [task.result() for task in tasks]

    async def first(self, tasks):
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done), pending

    async def race(self, name, of):
        winner, _ = await self.first(self.begun(name, of))
        return winner.result()

    async def cancelling(self, name, of):
        winner, losers = await self.first(self.begun(name, of))
        for loser in losers:
            loser.cancel()
        return winner.result()

    async def any(self, name, of):
        tasks = self.begun(name, of)
        while tasks:
            winner, _ = await self.first(tasks)
            if winner.exception() is None:
                return winner.result()
            tasks.remove(winner)
        raise ValueError("none")


async def run(each, engine, number, attempt, lifetime, chance):
    """Runs the program for at most so many turns. Returns what it has seen, and its end."""
    worker = Worker(engine, chance)
    job = Handler(worker, grant(1, number, attempt=attempt, max_attempts=MAX_ATTEMPTS))
    one = Run(job, engine)
    job.task = asyncio.ensure_future(one.do(each, "p"))
    clock = asyncio.ensure_future(turns(lifetime))
    await asyncio.wait([job.task, clock], return_when=asyncio.FIRST_COMPLETED)
    end = "killed"
    if job.task.done():
        end = "returned" if not job.task.cancelled() and job.task.exception() is None else "raised"
    if job.ending is not None:
        end = job.ending[0] if job.ending[1:] == () else "changed" if job.ending[-1] is True else "failed"
    worker.is_alive = False
    job.abort_cause = job.abort_cause or "killed"
    job._durable.finish((end,))
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return one.seen, end


class Replays(unittest.TestCase):
    def test_runs_of_a_job_see_the_same_results_in_the_same_order(self):
        for place in range(RUNS):
            with self.subTest(seed=SEED + place):
                asyncio.run(self.lives(random.Random(SEED + place)))

    async def lives(self, chance):
        each, engine, longest, attempt = program(chance), Engine(), [], 1
        # A program that has lost a race may fail unseen; a callback of the client may not.
        asyncio.get_running_loop().set_exception_handler(lambda _, said: "future" in said or engine.wrong.append(said))
        lifetimes = [chance.choice([chance.randrange(900), chance.randrange(3_000), FOREVER]) for _ in range(chance.randrange(12))]
        for number in range(1, 80):
            lifetime = lifetimes[number - 1] if number <= len(lifetimes) else FOREVER
            before = len(engine.results)
            seen, end = await run(each, engine, number, attempt, lifetime, chance)
            common = min(len(seen), len(longest))
            self.assertEqual(seen[:common], longest[:common])
            longest = max(seen, longest, key=len)
            self.assertNotEqual(end, "changed")
            self.assertEqual(engine.wrong, [])
            if end == "asleep":
                engine.wake()
            if end in ("returned", "raised"):
                # Once more, with all that is recorded.
                self.assertEqual(await run(each, engine, number + 1, attempt, FOREVER, chance), (longest, end))
                numbers = [row["number"] for row in engine.results]
                self.assertEqual(len(set(numbers)), len(numbers))
                return
            attempt = 1 if len(engine.results) > before else min(MAX_ATTEMPTS, attempt + (end == "failed"))
        self.fail("it never ends")
