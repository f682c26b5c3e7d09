"""Calls that change many jobs, the settings of queues and the filters of lists, on calls that the test answers."""

import math
import unittest

import millrace

NOTHING = {"matched": 0, "changed": 0, "skipped": {}, "next": None}
JOBS = [millrace.JobKey(number, 2, 3) for number in range(1, 251)]


class Calls(unittest.TestCase):
    """A client whose calls are answered by the test, in their order; an error is raised."""

    def client(self, *answers):
        client, self.asked, told = millrace.Client("unix:none"), [], iter(answers)

        def call(op, *fields):
            self.asked.append((op, *fields))
            answer = next(told)
            if isinstance(answer, Exception):
                raise answer
            return answer

        client.call = call
        return client

    def refused(self, code, call, *args, **options):
        with self.assertRaises(millrace.Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.code, code)
        return caught.exception


class Slices(Calls):
    def test_a_call_goes_on_where_the_last_slice_ended_until_its_limit(self):
        first = {"matched": 510, "changed": 500, "skipped": {"active": 10}, "next": 77}
        client = self.client(first, {"matched": 120, "changed": 100, "skipped": {"active": 15, "cancelling": 5}, "next": 5})
        result = client.retry_many({"state": "failed"}, limit=600)
        self.assertEqual(result, millrace.ManyResult(630, 600, {"active": 25, "cancelling": 5}))
        self.assertEqual([fields[2:5] for fields in self.asked], [(500, None, False), (100, 77, False)])

    def test_ids_go_by_the_hundred_each_once(self):
        client = self.client(*[{**NOTHING, "matched": 100, "changed": 100, "next": 9}] * 2, {**NOTHING, "matched": 50, "changed": 49})
        self.assertEqual(client.delete_many({"ids": [*JOBS, str(JOBS[0]), *JOBS[:9]]}).changed, 249)
        self.assertEqual([len(fields[5]) for fields in self.asked], [100, 100, 50])
        self.assertEqual([fields[3] for fields in self.asked], [None, None, None])
        self.assertEqual(self.client().delete_many({"ids": []}), millrace.ManyResult(0, 0, {}))

    def test_an_error_between_two_slices_says_what_was_done(self):
        lost = millrace.ConnectionLost("gone")
        client = self.client({"matched": 500, "changed": 500, "skipped": {}, "next": 77}, lost)
        self.assertIs(self.refused("CONNECTION_LOST", client.cancel_many, {"queue": "q"}), lost)
        self.assertEqual(lost.done, millrace.ManyResult(500, 500, {}))
        self.assertIsNone(self.refused("BUSY", self.client(millrace.Error("BUSY", "later")).cancel_many, {"queue": "q"}).done)

    def test_all_states_are_no_condition_and_one_is_that_state(self):
        for state, fields in ((millrace.STATES, []), (["failed"], [5]), (("failed", "failed", "waiting"), [*[None] * 14, [1, 5]])):
            client = self.client(NOTHING)
            client.retry_many({"state": state})
            self.assertEqual(self.asked[0][1], fields)

    def test_what_would_mean_other_jobs_is_refused(self):
        refused = {
            "filter": [{}, None, [], {"state": None}, {"stat": "failed"}],
            "all": [{"all": False}, {"all": 1}, {"all": None}, {"all": True, "queue": "q"}],
            "state": [{"state": "dead"}, {"state": []}, {"state": 5}, {"state": {"failed": 1}}, {"state": [None]}],
            "ids": [{"ids": "x"}, {"ids": JOBS[:1], "search": "x"}, {"ids": JOBS[:1], "error": "E"}, {"ids": [], "data": 1}],
            "job": [{"ids": ["no id"]}, {"ids": [None]}, {"ids": [millrace.JobOfKey("a", unique_key="u")]}],
            "data": [{"data": math.nan}, {"data": b"x"}, {"data": [10**400]}],
            "fingerprint": [{"fingerprint": "0" * 13}, {"fingerprint": "F" * 14}, {"fingerprint": "20000000000000"}, {"fingerprint": 7}],
            "queue": [{"queue": ["a"]}],
            "finished_after": [{"finished_after": "yesterday"}],
        }
        client = self.client()
        for option, cases in refused.items():
            for case in cases:
                with self.subTest(str(case)[:80]), self.assertRaisesRegex(millrace.Error, r"delete_many\(\): ") as caught:
                    client.delete_many(case)
                self.assertIn(caught.exception.code, ("OPTION_TYPE", "OPTION_RANGE"))
                self.assertEqual(caught.exception.details["option"], option)
                self.assertLess(len(str(caught.exception)), 800)
        for options in ({"limit": 0}, {"dry_run": 1}):
            with self.subTest(options), self.assertRaises(millrace.Error):
                client.delete_many({"queue": "q"}, **options)
        self.refused("OPTION_TYPE", client.update_many, {"queue": "q"})
        self.assertEqual(self.asked, [])


class Settings(Calls):
    def test_what_cannot_be_sent_is_refused(self):
        refused = {
            "concurrency_limit": [{"concurrency_limit": math.nan}],
            "rate_limit.period": [{"rate_limit": {"limit": 1, "period": "1s"}}],
            "retention": [{"retention": 60}, {"retention": {"active": 60}}],
            "retention.failed": [{"retention": {"failed": "ever"}}],
            "defaults": [{"defaults": 5}, {"defaults": {"run_at": 5}}],
            "timeout": [{"defaults": {"timeout": "1"}}],
            "backoff": [{"defaults": {"backoff": {"kind": "fixed"}}}],
            "backoff.type": [{"defaults": {"backoff": {"type": "none"}}}],
        }
        client = self.client()
        for option, cases in refused.items():
            for case in cases:
                with self.subTest(str(case)[:80]), self.assertRaisesRegex(millrace.Error, r"configure_queue\(\): ") as caught:
                    client.configure_queue(**{"queue": "q", **case})
                self.assertIn(caught.exception.code, ("OPTION_TYPE", "OPTION_RANGE"))
                self.assertEqual(caught.exception.details["option"], option)
                self.assertLess(len(str(caught.exception)), 800)
        with self.assertRaisesRegex(TypeError, r"configure_queue\(\) got an unexpected keyword argument 'concurency_limit'; did you mean 'conc"):
            client.configure_queue("q", concurency_limit=5)
        self.assertEqual(self.asked, [])

    def test_none_removes_a_setting_and_what_is_left_out_is_not_sent(self):
        client = self.client(True, True, True)
        client.configure_queue("q", rate_limit=None, retention={"failed": 60, "completed": None}, defaults={"ttl": None, "keep": 60})
        client.configure_queue("q")
        client.configure_queue("q", on_full="drop-oldest")
        changes = {"rateLimit": None, "retention": {"failed": 60_000}, "defaults": {"keep": 60_000}}
        self.assertEqual(self.asked, [("configure", "q", changes), ("configure", "q", {}), ("configure", "q", {"onFull": "drop-oldest"})])


class Lists(Calls):
    def test_an_order_goes_on_by_its_times(self):
        client = self.client({"jobs": [], "next": 7, "nextAt": 99}, {"jobs": [], "next": None})
        self.assertEqual(list(client.jobs(state="failed", order="finished", page=5)), [])
        self.assertEqual([fields[1:] for fields in self.asked], [([5], 5, None, None, None, None, 0), ([5], 5, 7, None, None, None, 0, 99)])


class Others(Calls):
    def test_what_cannot_be_sent_is_refused(self):
        client, job = self.client(), millrace.new_job("a")
        refused = {
            "file": [lambda: client.backup(b"x")],
            "page": [lambda: client.queues(page=None), lambda: client.flow_jobs(JOBS[0], page=[1])],
            "payload": [lambda: client.get(JOBS[0], payload="some"), lambda: client.jobs(payload=None)],
            "last_run": [lambda: client.jobs(last_run=1)],
            "order": [lambda: client.logs(JOBS[0], order="last")],
            "jobs": [lambda: client.batch("jobs", job), lambda: client.batch([], on_failure=job)],
            "callback": [lambda: client.batch([job]), lambda: client.batch([job], job, on_end=job), lambda: client.batch([job], "job")],
            "pause": [lambda: millrace.Snooze(1, pause="worker"), lambda: millrace.Snooze(1, pause=True)],
        }
        for option, calls in refused.items():
            for place, call in enumerate(calls):
                with self.subTest(option, place=place), self.assertRaises(millrace.Error) as caught:
                    call()
                self.assertEqual(caught.exception.details["option"], option)
                self.assertLess(len(str(caught.exception)), 800)
        self.assertEqual(self.asked, [])

    def test_an_export_confirms_a_batch_when_the_next_one_is_wanted(self):
        page = {"jobs": [], "missed": 2, "next": 7, "gap": {"after": 1, "resumesAt": 5}}
        client = self.client()
        answers = iter([page, {"jobs": [], "missed": 0, "next": 9}, {"jobs": [], "missed": 1, "next": 12}])
        client._patiently = lambda _make, asked: self.asked.append((asked.op, *asked.fields)) or asked.answer(next(answers))
        batches = client.export("archive", page=10)
        first = next(batches)
        self.assertEqual((first.missed, first.gap.type, first.gap.resumes_at), (2, "gap", 5))
        self.assertEqual(self.asked, [("export", "archive", 10, None)])
        self.assertIsNone(next(batches).gap)
        self.assertEqual(self.asked[1:], [("export", "archive", 10, 7), ("export", "archive", 10, 9)])

    def test_schedules_of_a_name(self):
        page = {"schedules": [], "next": None}
        self.assertEqual(list(self.client(page).schedules(name="a")), [])
        self.assertEqual(self.asked, [("listSchedules", "", 200, None, None, "a")])


class Keys(Calls):
    def test_a_job_is_named_by_one_key(self):
        client = self.client()
        for of in (
            millrace.JobOfKey("a"),
            millrace.JobOfKey("a", unique_key="u", idempotency_key="i"),
            millrace.JobOfKey("a", unique_key=["u"]),
            "no key",
        ):
            with self.subTest(str(of)[:80]):
                self.assertIn(self.refused_of(client.release_key, of), ("OPTION_TYPE", "OPTION_RANGE"))
        self.assertIn(self.refused_of(client.result, millrace.JobOfKey("a", unique_key="u")), ("OPTION_TYPE",))
        self.assertEqual(self.asked, [])

    def refused_of(self, call, *args):
        with self.assertRaises(millrace.Error) as caught:
            call(*args)
        return caught.exception.code
