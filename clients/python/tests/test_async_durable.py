"""Durable calls of an asynchronous handler, many at a time: how they are cancelled, and what a run that ends leaves behind."""

import asyncio
import contextvars
import sys
import unittest
import unittest.mock

import millrace
from millrace import replay
from millrace.async_worker import AsyncJob

from .support import Engine, Recorder, grant

HOUR = 3600
who = contextvars.ContextVar("who", default="nobody")


async def turns(count):
    for _ in range(count):
        await asyncio.sleep(0)


class Ends(unittest.TestCase):
    def test_a_step_that_ends_the_process_gives_the_job_back(self):
        jobs = []

        async def handler(job):
            await job.step("a", lambda _: sys.exit(7))

        async def main():
            job = AsyncJob(Recorder(Engine()), grant(1))
            jobs.append(job)
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            job.task = asyncio.ensure_future(handler(job))
            await job.task

        with self.assertRaises(SystemExit):
            asyncio.run(main())
        self.assertEqual((jobs[0].ending, jobs[0]._link.engine.results), (("giveBack", True), []))


class AsyncDurables(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.engine, self.seen, self.complaints = Engine(), [], []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: self.complaints.append(said))

    async def begin(self, handler, number=1, **fields):
        job = AsyncJob(Recorder(self.engine), grant(1, number, **fields))
        job.task = asyncio.ensure_future(handler(job))
        return job

    async def end(self, job):
        """What the handler has returned or raised, and how its run ends."""
        await asyncio.wait([job.task])
        job._durable.finish(job.ending or ("complete",))
        outcome = asyncio.CancelledError if job.task.cancelled() else job.task.exception() or job.task.result()
        # What is cancelled has ended, and whatever was never awaited is collected.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), 20)
        self.assertEqual([said for said in self.complaints if "future" not in said], [])
        return outcome, job.ending

    async def end_of(self, handler, number=1, **fields):
        return await self.end(await self.begin(handler, number, **fields))

    def names(self):
        return [row["name"] for row in self.engine.results]

    async def hangs(self, step):
        self.seen.append("hangs")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.seen.append("cancelled")
            raise

    async def until_seen(self, what):
        while what not in self.seen:
            await asyncio.sleep(0)

    async def test_parallel_steps_and_functions_of_both_kinds(self):
        async def handler(job):
            async def slow(step):
                await asyncio.sleep(0)
                return step.key == "%s:b" % job.id

            return await asyncio.gather(job.step("a", lambda step: step.attempt), job.step("b", slow), job.changed("new"))

        for number in (1, 2):
            self.assertEqual(await self.end_of(handler, number), ([1, True, True], None))

    async def test_a_run_that_ends_with_a_sleep_cancels_its_handler_and_no_branch_takes_it_for_the_end_of_the_sleep(self):
        async def handler(job):
            nap = asyncio.ensure_future(job.sleep("nap", HOUR))
            plain = asyncio.ensure_future(asyncio.Event().wait())
            try:
                done, _ = await asyncio.wait([nap, plain], return_when=asyncio.FIRST_COMPLETED)
                self.seen.append(done)
            finally:
                self.seen.append((job.abort_cause, nap.done()))
                plain.cancel()

        self.assertEqual(await self.end_of(handler), (asyncio.CancelledError, ("asleep",)))
        self.assertEqual(self.seen, [("suspended", False)])

    async def test_gathered_sleeps_that_hand_back_exceptions_end_the_run_all_the_same(self):
        async def handler(job):
            self.seen += await asyncio.gather(job.sleep("a", HOUR), job.sleep("b", 2 * HOUR), return_exceptions=True)

        self.assertEqual(await self.end_of(handler), (asyncio.CancelledError, ("asleep",)))
        self.assertEqual((self.seen, sorted(self.engine.ends)), ([], ["a", "b"]))

    async def test_a_handler_that_ignores_the_end_of_its_run_gets_nothing_more(self):
        async def handler(job):
            for name in ("nap", "more"):
                try:
                    await job.sleep(name, HOUR)
                except asyncio.CancelledError:
                    self.seen.append(name)
            return "done"

        self.assertEqual(await self.end_of(handler), ("done", ("asleep",)))
        self.assertEqual((self.seen, list(self.engine.ends)), (["nap", "more"], ["nap"]))

    async def test_a_branch_that_nobody_awaits_ends_with_its_run(self):
        async def branch(job):
            try:
                await job.sleep("long", 9 * HOUR)
            finally:
                self.seen.append("branch")

        async def handler(job):
            asyncio.ensure_future(branch(job))
            await job.sleep("nap", HOUR)

        self.assertEqual((await self.end_of(handler))[1], ("asleep",))
        self.assertEqual(self.seen, ["branch"])

    async def test_a_step_ends_with_its_handler_and_leaves_no_result(self):
        async def returns(job):
            asyncio.ensure_future(job.step("slow", self.hangs))
            await job.step("quick", lambda _: self.until_seen("hangs"))
            return "done"

        self.assertEqual(await self.end_of(returns), ("done", None))
        self.assertEqual((self.seen, self.names()), (["hangs", "cancelled"], ["quick"]))

    async def test_a_handler_that_is_cancelled_cancels_its_steps(self):
        async def handler(job):
            await asyncio.gather(job.step("a", self.hangs), job.step("b", self.hangs))

        job = await self.begin(handler)
        await self.until_seen("hangs")
        job.task.cancel()
        self.assertEqual(await self.end(job), (asyncio.CancelledError, None))
        self.assertEqual((self.seen, self.names()), (["hangs", "hangs", "cancelled", "cancelled"], []))

    async def test_a_step_that_its_handler_cancels_leaves_no_result_unless_it_ends_all_the_same(self):
        async def stubborn(step):
            try:
                await self.hangs(step)
            except asyncio.CancelledError:
                return "done"

        async def handler(job):
            steps = [asyncio.ensure_future(job.step("a", self.hangs)), asyncio.ensure_future(job.step("b", stubborn))]
            await job.step("begun", lambda _: self.until_seen("hangs"))
            for step in steps:
                step.cancel()
            ends = await asyncio.gather(*steps, return_exceptions=True)
            await job.step("c", str)
            return [type(end) for end in ends]

        for number in (1, 2):
            self.assertEqual(await self.end_of(handler, number), ([asyncio.CancelledError] * 2, None))
            self.assertEqual((self.names(), len(self.seen)), (["begun", "b", "c"], 4))

    async def test_a_cancelled_error_that_nobody_asked_for_is_a_failure(self):
        async def fn(step):
            other = asyncio.ensure_future(asyncio.Event().wait())
            other.cancel()
            await other

        outcome, ending = await self.end_of(lambda job: job.step("a", fn))
        self.assertEqual((outcome, ending[0], ending[1][0]), (asyncio.CancelledError, "fail", "CancelledError"))
        outcome, _ = await self.end_of(lambda job: job.step("a", fn), 2, attempt=4)
        self.assertEqual((outcome.code, outcome.error["name"]), ("STEP_FAILED", "CancelledError"))

    async def test_a_failure_waits_until_no_other_step_runs(self):
        async def slow(step):
            await turns(200)
            return "slow"

        def fails(step):
            raise ValueError("no")

        async def handler(job):
            return await asyncio.gather(job.step("a", fails), job.step("b", slow))

        outcome, ending = await self.end_of(handler)
        self.assertEqual((outcome, ending[0], ending[1][:2], self.names()), (asyncio.CancelledError, "fail", ["ValueError", "no"], ["b"]))

    async def test_a_handler_that_returns_with_what_is_recorded_has_not_failed(self):
        def fails(step):
            raise ValueError("no")

        async def handler(job):
            steps = [asyncio.ensure_future(job.step("a", str)), asyncio.ensure_future(job.step("b", fails))]
            done, _ = await asyncio.wait(steps, return_when=asyncio.FIRST_COMPLETED)
            return steps[0] in done

        self.assertEqual(await self.end_of(handler), (True, None))

    async def test_a_handler_that_waits_for_no_durable_call_is_left_alone(self):
        async def stopped(job):
            await job.step("a", str)
            job._durable.stop()
            await turns(300)
            return "done"

        async def lost(job):
            nap = asyncio.ensure_future(job.sleep("nap", HOUR))
            await job.step("b", str)
            nap.cancel()
            await turns(300)
            return "done"

        for handler in (stopped, lost):
            self.assertEqual(await self.end_of(handler), ("done", None))

    async def test_a_step_that_is_cancelled_before_anything_is_known_does_not_begin(self):
        async def handler(job):
            step = asyncio.ensure_future(job.step("a", self.hangs))
            await asyncio.sleep(0)
            step.cancel()
            return await job.step("b", lambda _: "b")

        self.assertEqual(await self.end_of(handler, 2), ("b", None))
        self.assertEqual((self.seen, self.names()), ([], ["b"]))

    async def test_a_failure_that_nobody_awaits_is_no_complaint(self):
        def fails(step):
            raise millrace.Fail("no")

        async def handler(job):
            return await asyncio.gather(job.step("a", fails), job.step("b", str), return_exceptions=True)

        outcome, _ = await self.end_of(handler)
        self.assertIsInstance(outcome[0], millrace.StepFailedError)
        self.assertEqual(self.complaints, [])

    async def test_what_is_refused(self):
        async def inner(job):
            try:
                await asyncio.ensure_future(job.step("inner", str))
            except millrace.Error as error:
                return error.message

        async def handler(job):
            said = await job.step("outer", lambda _: inner(job))
            codes = await asyncio.gather(
                job.step("twice", str), job.step("twice", str), job.step("start", str), job.sleep("x", -1), job.step("y", None),
                return_exceptions=True,
            )
            return said, [code if isinstance(code, str) else (code.code, code.details["option"]) for code in codes]

        said, codes = (await self.end_of(handler))[0]
        self.assertIn("'inner' is asked for within the step 'outer'", said)
        name = ("OPTION_TYPE", "name")
        self.assertEqual(codes[1:], [name, name, ("OPTION_RANGE", "sleep"), ("OPTION_TYPE", "fn")])

    async def test_too_many_open_sleeps(self):
        async def handler(job):
            naps = [asyncio.ensure_future(job.sleep("nap %d" % number, HOUR)) for number in range(101)]
            try:
                await naps[100]
            except millrace.Error as error:
                self.seen.append((error.code, error.details))
            await asyncio.wait(naps[:100])

        self.assertEqual((await self.end_of(handler))[1], ("asleep",))
        self.assertEqual(self.seen, [("OPTION_RANGE", {"option": "sleep", "limit": 100})])

    async def test_the_function_of_a_step_sees_the_context_of_its_call(self):
        async def handler(job):
            async def branch(name):
                who.set(name)
                return await job.step(name, lambda _: who.get())

            return await asyncio.gather(branch("a"), branch("b"))

        self.assertEqual((await self.end_of(handler, 2))[0], ["a", "b"])

    async def test_a_worker_that_stops_gives_the_run_back_when_its_steps_have_ended(self):
        async def handler(job):
            async def first(step):
                job._durable.stop()
                await turns(200)

            await job.step("first", first)
            await job.step("second", str)

        self.assertEqual(await self.end_of(handler), (asyncio.CancelledError, ("giveBack", True)))
        self.assertEqual(self.names(), ["first"])

    async def test_a_sleep_races_with_a_step(self):
        async def handler(job):
            nap = asyncio.ensure_future(job.sleep("nap", 0.002))
            slow = asyncio.ensure_future(job.step("slow", self.hangs))
            done, _ = await asyncio.wait([nap, slow], return_when=asyncio.FIRST_COMPLETED)
            slow.cancel()
            return "late" if nap in done else "in time"

        self.assertEqual(await self.end_of(handler), ("late", None))
        self.assertEqual((self.seen, self.names()), (["hangs", "cancelled"], ["nap"]))
        self.assertEqual(await self.end_of(handler, 2), ("late", None))
        self.assertEqual(self.seen, ["hangs", "cancelled"])

    async def test_newer_code_that_asks_for_other_names_ends_its_run_and_leaves_no_task(self):
        async def older(job):
            await asyncio.gather(job.step("a", str), job.step("b", str))
            await job.sleep("nap", HOUR)

        async def newer(job):
            await asyncio.gather(job.step("a", str), job.step("c", self.hangs))

        await self.end_of(older)
        with unittest.mock.patch.object(replay, "CHANGED_AFTER", 0.01):
            outcome, ending = await self.end_of(newer, 2)
        self.assertEqual((outcome, ending[1][0], ending[2:]), (asyncio.CancelledError, "StepsChangedError", (None, None, None, True)))
        self.assertRegex(ending[1][1], "asks for 'c', and its job has recorded 'b' next")
        self.assertEqual(self.seen, [])
        # A result before which another one is missing, and a step that is held while a sleep is open.
        for other, names in (
            (lambda job: job.step("b", str), "'b'.*'a'"),
            (lambda job: asyncio.gather(job.step("a", str), job.step("b", str), job.step("c", self.hangs)), "'c'.*'nap'"),
            (lambda job: asyncio.gather(job.step("a", str), job.step("c", self.hangs), job.sleep("nap", HOUR)), "'c'.*'b'"),
        ):
            with unittest.mock.patch.object(replay, "CHANGED_AFTER", 0.01):
                self.assertRegex((await self.end_of(other, 2))[1][1][1], names)
        self.engine.wake()
        self.assertEqual(await self.end_of(older, 3), (None, None))
