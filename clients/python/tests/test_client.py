"""The client on a connection that the test answers."""

import unittest
import unittest.mock

import millrace
from millrace import _schema, operations

from .support import Wire


class Producers(unittest.TestCase):
    def setUp(self):
        self.wire = Wire()
        self.client = millrace.Client("unix:none")
        self.client._calls._connection = self.wire
        self.wire.start(self.client._calls._deliver, lambda end: self.client._calls._end(self.wire, end))

    def test_a_result_that_nobody_waits_for_any_more_is_forgotten(self):
        with self.assertRaises(TimeoutError):
            self.client.result(millrace.JobKey(1, 2, 3), timeout=0)
        self.assertEqual(self.wire.said, [(1, "watch", [1, 2, 3]), (2, "unwatch", 1)])
        self.wire.deliver([1, _schema.TRUE], [2, _schema.TRUE])
        self.assertEqual(self.client._calls._waiting, {})

    def test_a_drain_is_not_asked_for_again_after_a_break(self):
        """Somebody may have resumed the queue meanwhile."""
        with unittest.mock.patch.object(self.wire, "write", lambda *frames: self.wire.on_end(millrace.ConnectionLost("gone"))):
            with self.assertRaises(millrace.ConnectionLost):
                self.client.drain_queue("q")
        self.assertEqual((self.wire.said, self.client._calls._waiting), ([], {}))

    def test_calls_that_a_break_ends_have_an_error_each(self):
        """What one of them notes on it is not the others' business."""
        calls = [self.client._calls.send(self.wire, "stats")[1] for _ in range(2)]
        self.wire.on_end(millrace.ConnectionLost("gone", "BAD_FRAME", None))
        one, two = (call.exception() for call in calls)
        self.assertIsNot(one, two)
        self.assertEqual((one.code, two.code, two.retry_after, one.message), ("BAD_FRAME", "BAD_FRAME", None, "gone"))

    def test_a_call_that_cannot_be_sent_is_none(self):
        for fields, refused in (([object()], TypeError), (["x" * 18 * 2**20], millrace.Error)):
            with self.subTest(refused), self.assertRaises(refused):
                self.client.call("get", *fields)
        for job in ("no id", (1, 2), (1, 2, [3]), (2**53, 1, 1)):
            with self.subTest(job), self.assertRaises((millrace.Error, ValueError)):
                self.client.cancel(job)
        self.assertEqual((self.client._calls._waiting, self.wire.said), ({}, []))


class Lists(unittest.TestCase):
    """A client whose calls are answered by the test."""

    def setUp(self):
        """Items are what the test says."""
        views = ("job_info", "queue_info", "worker_info", "schedule_info", "flow_info")
        patched = unittest.mock.patch.multiple(operations, **dict.fromkeys(views, lambda said: said))
        patched.start()
        self.addCleanup(patched.stop)

    def client(self, *pages):
        client, self.asked, answers = millrace.Client("unix:none"), [], iter(pages)

        def call(op, *fields):
            self.asked.append((op, *fields))
            return next(answers)

        client.call = call
        return client

    def test_queues_and_workers_come_page_by_page_behind_the_last_one(self):
        for list_of, op, mark, fields in (("queues", "queues", "name", [None]), ("workers", "workers", "session", [])):
            with self.subTest(list_of):
                items = getattr(self.client([{mark: "a"}, {mark: "b"}], [{mark: "c"}]), list_of)(page=2)
                self.assertEqual(self.asked, [])
                self.assertEqual(next(items), {mark: "a"})
                self.assertEqual(self.asked, [(op, *fields, None, 2)])
                self.assertEqual(list(items), [{mark: "b"}, {mark: "c"}])
                self.assertEqual(self.asked[1:], [(op, *fields, "b", 2)])

    def test_a_last_page_that_is_full_is_followed_by_an_empty_one(self):
        self.assertEqual(list(self.client([{"name": "a"}], []).queues(page=1)), [{"name": "a"}])
        self.assertEqual(self.asked, [("queues", None, None, 1), ("queues", None, "a", 1)])

    def test_jobs_go_on_where_the_server_says_also_behind_a_page_that_is_empty(self):
        client = self.client({"jobs": [1, 2], "next": 7}, {"jobs": [], "next": 5}, {"jobs": [3], "next": None})
        self.assertEqual(list(client.jobs(state="failed", queue="q", search="x")), [1, 2, 3])
        self.assertEqual(self.asked, [("list", [5, "q"], 200, before, "x") for before in (None, 7, 5)])

    def test_flows_go_on_where_the_server_says(self):
        client = self.client({"flows": [1], "next": 7}, {"flows": [], "next": None})
        self.assertEqual(list(client.flows(state="failed")), [1])
        self.assertEqual(self.asked, [("listFlows", 200, 2, before) for before in (None, 7)])

    def test_schedules_go_on_behind_the_next(self):
        client = self.client({"schedules": [1], "next": "b"}, {"schedules": [2]})
        self.assertEqual(list(client.schedules("a")), [1, 2])
        self.assertEqual(self.asked, [("listSchedules", "a", 200, after) for after in (None, "b")])

    def test_what_cannot_be_sent_is_refused_by_the_call_and_not_by_the_first_item(self):
        client = self.client()
        refused = {
            "state": lambda: client.jobs(state="dead"),
            "queue": lambda: client.jobs(queue=["a"]),
            "order": lambda: client.jobs(order="last"),
            "page": lambda: client.workers(page=None),
        }
        for option, call in refused.items():
            with self.subTest(option), self.assertRaises(millrace.Error) as caught:
                call()
            self.assertEqual(caught.exception.details["option"], option)
        self.assertEqual(self.asked, [])
