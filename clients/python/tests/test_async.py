"""The client and the worker for asyncio, on a connection that the test answers."""

import asyncio
import unittest

import millrace
from millrace import _schema

from .support import Wire, grant


class AsyncClients(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.wire = Wire()
        self.client = millrace.AsyncClient("unix:none")
        calls = self.client._calls
        calls._connection = self.wire
        self.wire.start(calls._deliver, lambda end: calls._end(self.wire, end))

    async def test_a_result_that_nobody_waits_for_any_more_is_forgotten(self):
        with self.assertRaises(TimeoutError):
            await self.client.result(millrace.JobKey(1, 2, 3), timeout=0)
        waiting = asyncio.ensure_future(self.client.result(millrace.JobKey(1, 2, 3)))
        await asyncio.sleep(0)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        self.assertEqual([said[1:] for said in self.wire.said], [("watch", [1, 2, 3]), ("unwatch", 1), ("watch", [1, 2, 3]), ("unwatch", 3)])
        self.assertEqual(self.client._calls._waiting, {})

    async def test_a_call_that_was_cancelled_is_answered_for_nobody(self):
        call = asyncio.ensure_future(self.client.get(millrace.JobKey(1, 2, 3)))
        await asyncio.sleep(0)
        call.cancel()
        other = asyncio.ensure_future(self.client.get(millrace.JobKey(4, 5, 6)))
        await asyncio.sleep(0)
        self.wire.deliver([1, _schema.VALUE, None], [2, _schema.VALUE, None])
        self.assertIsNone(await other)
        self.assertTrue(call.cancelled())

    async def test_what_is_wrong_is_refused_before_it_is_sent(self):
        with self.assertRaises(millrace.Error):
            await self.client.enqueue("a", tags="one")
        with self.assertRaises(millrace.Error):
            self.client.jobs(state="dead")
        self.assertEqual(self.wire.said, [])


class AsyncWorkers(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.began = asyncio.Queue()
        self.way = asyncio.Event()
        self.wire = Wire()
        self.worker = millrace.AsyncWorker("unix:none", {"a": self.handle})
        self.worker._loop = asyncio.get_running_loop()
        self.worker._attach_to(self.wire)
        self.answer("attach", _schema.ATTACHED, None)

    async def handle(self, job):
        await self.began.put(job)
        await self.way.wait()
        return await self.then(job)

    def answer(self, op, *reply):
        self.wire.deliver([next(id for id, said, *_ in reversed(self.wire.said) if said == op), *reply])

    async def begin(self, seq=1, **fields):
        self.wire.deliver(grants=[grant(seq, **fields)])
        return await self.began.get()

    async def settled(self, job):
        """What is said of a job once its task has ended."""
        await asyncio.wait([job.task])
        await asyncio.sleep(0)
        return self.wire.said[-1][1:]

    async def test_what_it_returns_is_the_output(self):
        async def then(job):
            return {"run": job.run}

        self.then = then
        job = await self.begin()
        self.way.set()
        self.assertEqual(await self.settled(job), ("complete", 1, 1, '{"run":1}'))

    async def test_a_handler_that_is_aborted_is_cancelled(self):
        job = await self.begin()
        self.wire.deliver(notices=[[_schema.ABORT, "s", 1, 1, _schema.ABORT_CAUSES.index("cancel"), "wrong file"]])
        op, _, _, error, *_ = await self.settled(job)
        self.assertEqual((op, error[0], job.abort_cause, job.cancel_reason), ("fail", "CancelledError", "cancel", "wrong file"))

    async def test_a_handler_of_a_worker_that_stops_is_cancelled_and_its_job_given_back(self):
        job = await self.begin()
        self.worker._abort(job, "stop")
        self.worker._stopping = True
        self.assertEqual(await self.settled(job), ("giveBack", 1, 1, True))

    async def test_a_handler_that_is_aborted_before_it_begins_never_does(self):
        self.wire.deliver(grants=[grant(1)], notices=[])
        self.wire.deliver(notices=[[_schema.ABORT, "s", 1, 1, _schema.ABORT_CAUSES.index("timeout")]])
        job = self.worker._runs[(1, 1)].job
        await asyncio.sleep(0)
        self.assertEqual((await self.settled(job))[0], "fail")
        self.assertTrue(self.began.empty())

    async def test_durable_calls_of_a_handler_and_the_end_of_its_run(self):
        async def then(job):
            await asyncio.gather(job.step("a", lambda _: 1), job.step("b", lambda _: 2))
            await job.sleep("nap", 5)

        self.then = then
        self.way.set()
        job = await self.begin()
        while len([said for said in self.wire.said if said[1] == "step"]) < 2:
            await asyncio.sleep(0)
        self.wire.deliver(*([id, _schema.TRUE] for id, op, *_ in self.wire.said if op == "step"))
        while self.wire.said[-1][1] != "wait":
            await asyncio.sleep(0)
        self.assertEqual(self.wire.said[-1][1:], ("wait", 1, 1, 2, [["nap", 3, 5000]], True))
        self.answer("wait", _schema.VALUE, {"results": [], "ended": True})
        self.assertEqual((await self.settled(job))[0], "wait")
        self.assertEqual((job.task.cancelled(), job.abort_cause, self.worker._runs), (True, "suspended", {}))

    async def test_a_join_ends_its_run_and_is_read_page_by_page_later(self):
        ends = []

        async def pages():
            return [millrace.new_job("page", 1)]

        async def then(job):
            try:
                async for page in await job.join("pages", pages):
                    ends.append((page.ref, page.output))
                return [page async for page in await job.join("none", [])]
            except Exception:
                return "swallowed"

        self.then = then
        self.way.set()
        job = await self.begin()
        self.assertEqual(await self.settled(job), ("join", 1, 1, "pages", [["page", "1"]]))
        self.answer("join", _schema.TRUE)
        job = await self.begin(run=2, joined=[_schema.Joined("pages", 1, 1)])
        while self.wire.said[-1][1] != "parents":
            await asyncio.sleep(0)
        self.assertEqual(self.wire.said[-1][1:], ("parents", 1, 2, 0, 1))
        page = {"seq": 5, "node": 1, "enqueuedAt": 1, "ref": "pages/0", "state": "completed", "output": "7"}
        self.answer("parents", _schema.VALUE, {"parents": [page], "next": None})
        self.assertEqual(await self.settled(job), ("complete", 1, 2, "[]"))
        self.assertEqual(ends, [("pages/0", 7)])
