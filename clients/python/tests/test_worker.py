"""A worker on a connection that the test answers."""

import queue
import re
import threading
import unittest
import unittest.mock

import millrace
from millrace import _schema, runs

from .support import PROTOCOL, Wire, grant


class Workers(unittest.TestCase):
    """A worker on a wire, without its own loop: handlers end as the test says, and timers fire when it does."""

    def setUp(self):
        self.jobs, self.ways = queue.Queue(), queue.Queue()
        self.worker = millrace.Worker("unix:none", {"a": self.handle})
        self.again = []
        patched = unittest.mock.patch.object(threading, "Timer", self.timer)
        patched.start()
        self.addCleanup(patched.stop)

    def timer(self, seconds, call, args):
        again = self.again

        class Timer:
            def start(self):
                again.append(lambda: call(*args))

        return Timer()

    def handle(self, job):
        self.jobs.put(job)
        return self.ways.get()()

    def attach(self):
        wire = Wire()
        self.worker._attach_to(wire)
        self.answer(wire, "attach", _schema.ATTACHED, None)
        return wire

    def answer(self, wire, op, *reply):
        wire.deliver([next(id for id, said, *_ in reversed(wire.said) if said == op), *reply])

    def begin(self, wire, *seqs):
        wire.deliver(grants=[grant(seq) for seq in seqs])
        return [self.jobs.get(timeout=20) for _ in seqs]

    def end(self, way):
        """The handler of one job ends so; its settlement is said."""
        settled = len([run for run in self.worker._runs.values() if run.settlement])
        with self.worker._changed:
            self.ways.put(way)
            while len([run for run in self.worker._runs.values() if run.settlement]) == settled:
                self.assertTrue(self.worker._changed.wait(20))

    def break_(self, wire):
        wire.on_end(millrace.ConnectionLost("gone"))

    def said(self, wire, *ops):
        return [tuple(said[1:]) for said in wire.said if said[1] in ops]

    def test_the_last_checkpoint_is_said_again_until_it_is_answered(self):
        first = self.attach()
        one, two = sorted(self.begin(first, 1, 2), key=lambda job: job.key)
        one.save(1)
        one.save(2)
        two.save("kept")
        self.answer(first, "checkpoint", _schema.TRUE)
        one.save(3)
        self.break_(first)
        one.save(4)
        second = self.attach()
        self.assertEqual(self.said(second, "checkpoint"), [("checkpoint", 1, 1, "4")])
        self.answer(second, "checkpoint", _schema.REFUSAL, "STORAGE_BUSY", "later")
        self.again.pop()()
        self.assertEqual(self.said(second, "checkpoint"), [("checkpoint", 1, 1, "4")] * 2)
        self.answer(second, "checkpoint", _schema.TRUE)
        third = self.attach()
        self.assertEqual(self.said(third, "checkpoint"), [])

    def test_a_checkpoint_goes_before_the_settlement_of_its_own_run_and_behind_those_of_others(self):
        first = self.attach()
        one, two = self.begin(first, 1), self.begin(first, 2)
        self.break_(first)
        one[0].save(1)
        two[0].save(2)

        def fails():
            raise millrace.Retry(0, "again")

        self.end(fails)
        ended = next(run.key for run in self.worker._runs.values() if run.settlement)
        second = self.attach()
        said = [(op, *fields[:2]) for op, *fields in self.said(second, "checkpoint", "fail")]
        goes_on = (2, 1) if ended == (1, 1) else (1, 1)
        self.assertEqual(said, [("checkpoint", *ended), ("fail", *ended), ("checkpoint", *goes_on)])

    def test_a_checkpoint_that_is_put_off_does_not_come_behind_the_end_of_its_run(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        job.save(1)
        self.answer(wire, "checkpoint", _schema.REFUSAL, "STORAGE_BUSY", "later")

        def fails():
            raise millrace.Retry(0)

        self.end(fails)
        self.assertEqual([op for op, *_ in self.said(wire, "checkpoint", "fail")], ["checkpoint", "checkpoint", "fail"])
        self.again.pop()()
        self.assertEqual(len(self.said(wire, "checkpoint", "fail")), 3)

    def test_an_outcome_that_is_refused_is_how_the_run_failed(self):
        wire = self.attach()
        self.begin(wire, 1)
        self.end(lambda: "output")
        self.answer(wire, "complete", _schema.REFUSAL, "INTERNAL", "a bug")
        self.assertEqual(wire.said[-1][1:], ("fail", 1, 1, ["INTERNAL", "a bug"]))
        # There is nothing simpler to say: held until its deadline.
        self.answer(wire, "fail", _schema.REFUSAL, "INTERNAL", "a bug")
        self.assertEqual(list(self.worker._runs), [(1, 1)])
        self.assertEqual(len(self.said(wire, "fail")), 1)

    def test_what_is_too_large_fails_for_good(self):
        wire = self.attach()
        self.begin(wire, 1)
        self.end(lambda: "output")
        self.answer(wire, "complete", _schema.REFUSAL, "OPTION_RANGE", "too large")
        self.assertEqual(wire.said[-1][1:], ("fail", 1, 1, ["OPTION_RANGE", "too large"], False))
        self.answer(wire, "fail", _schema.TRUE)
        self.assertEqual(self.worker._runs, {})

    def test_whatever_may_be_done_later_is_said_again_and_what_is_over_is_forgotten(self):
        for code in sorted(_schema.RETRYABLE):
            wire = self.attach()
            self.begin(wire, 1)
            self.end(lambda: "output")
            self.answer(wire, "complete", _schema.REFUSAL, code, "later")
            self.again.pop()()
            self.assertEqual(len(self.said(wire, "complete")), 2, code)
            self.answer(wire, "complete", _schema.REFUSAL, "STALE_RUN", "gone")
            self.assertEqual(self.worker._runs, {})

    def test_what_is_returned_after_a_stop_is_half_done_and_given_back(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        self.worker._abort(job, "stop")
        self.end(lambda: "half")
        self.assertEqual(wire.said[-1][1:], ("giveBack", 1, 1, True))
        (job,) = self.begin(wire, 2)
        self.worker._abort(job, "timeout")
        self.end(lambda: "done all the same")
        self.assertEqual(wire.said[-1][1:], ("complete", 2, 1, '"done all the same"'))

    def test_a_handler_cancels_its_own_job_also_of_a_worker_that_stops(self):
        wire = self.attach()
        for cause in (None, "stop"):
            (job,) = self.begin(wire, 1)
            if cause is not None:
                self.worker._abort(job, cause)

            def cancels():
                raise millrace.Cancel("no longer wanted")

            self.end(cancels)
            op, seq, run, error, *rest = wire.said[-1][1:]
            self.assertEqual((op, seq, run, error[:2], rest), ("fail", 1, 1, ["Cancel", "no longer wanted"], [False, True]))
            self.answer(wire, "fail", _schema.TRUE)

    def join(self, job, swallow=False, jobs=None):
        """A handler that joins; with `swallow` it catches what no handler should."""

        def joins():
            try:
                return list(job.join("pages", jobs or (lambda: [millrace.new_job("page", {"n": n}) for n in range(2)])))
            except Exception as error:
                return "swallowed %r" % error
            except BaseException:
                if not swallow:
                    raise
                return "swallowed"

        return joins

    def test_a_join_ends_its_run_whatever_the_handler_makes_of_the_exception(self):
        wire = self.attach()
        for swallow in (False, True):
            (job,) = self.begin(wire, 1)
            self.end(self.join(job, swallow))
            self.assertEqual(wire.said[-1][1:], ("join", 1, 1, "pages", [["page", '{"n":0}'], ["page", '{"n":1}']]))
            self.answer(wire, "join", _schema.TRUE)
            self.assertEqual(self.worker._runs, {})

    def test_a_join_that_has_ended_reads_its_jobs_page_by_page_also_after_a_break(self):
        first = self.attach()
        first.deliver(grants=[grant(1, run=2, joined=[_schema.Joined("other", 1, 2), _schema.Joined("pages", 3, 2)])])
        job = self.jobs.get(timeout=20)

        def never():
            raise AssertionError("called again")

        def page(number, next):
            key = {"seq": number, "node": 1, "enqueuedAt": 1_795_000_000_000}
            said = {"ref": "pages/%d" % number, "state": "completed", "output": '{"n":%d}' % number}
            return {"parents": [{**key, **said}], "next": next}

        read = []
        asked = threading.Thread(target=lambda: read.append(list(job.join("pages", never))))
        asked.start()
        self.assertEqual(self.until_said(first, "parents"), [("parents", 1, 2, 2, 4)])
        self.break_(first)
        second = self.attach()
        self.assertEqual(self.said(second, "parents"), [("parents", 1, 2, 2, 4)])
        self.answer(second, "parents", _schema.REFUSAL, "BUSY", "later")
        self.again.pop()()
        self.answer(second, "parents", _schema.VALUE, page(0, 3))
        self.assertEqual(self.until_said(second, "parents", 3)[-1], ("parents", 1, 2, 3, 4))
        self.answer(second, "parents", _schema.VALUE, page(1, None))
        asked.join(20)
        ((zero, one),) = read
        self.assertEqual((zero.ref, zero.state, zero.output, zero.error, one.output), ("pages/0", "completed", {"n": 0}, None, {"n": 1}))
        self.ways.put(lambda: None)

    def until_said(self, wire, op, count=1):
        """Returns what another thread says."""
        with wire.changed:
            self.assertTrue(wire.changed.wait_for(lambda: len(self.said(wire, op)) >= count, 20))
        return self.said(wire, op)

    def test_a_result_is_said_again_until_it_is_answered_and_its_step_is_called_once(self):
        first = self.attach()
        (job,) = self.begin(first, 1)
        called = []
        self.ways.put(lambda: [job.step("pay", called.append), job.changed("new")])
        self.until_said(first, "step")
        self.answer(first, "step", _schema.REFUSAL, "STORAGE_BUSY", "later")
        self.again.pop()()
        self.break_(first)
        second = self.attach()
        (said,) = self.said(second, "step")
        self.assertEqual((said[:7], self.said(first, "step")), (("step", 1, 1, 1, 1, "pay", 0), [said] * 2))
        self.answer(second, "step", _schema.TRUE)
        self.assertEqual(self.until_said(second, "step", 2)[1][3:7], (2, 2, "new", 1))
        self.answer(second, "step", _schema.TRUE)
        self.assertEqual(self.until_said(second, "complete"), [("complete", 1, 1, "[null,true]")])
        self.assertEqual([step.attempt for step in called], [1])

    def test_a_run_that_ends_with_a_sleep_is_forgotten(self):
        wire = self.attach()
        wire.deliver(grants=[grant(1, run=2)])
        job = self.jobs.get(timeout=20)
        self.ways.put(lambda: job.sleep("nap", 5))
        self.until_said(wire, "recorded")
        row = {"number": 7, "asked": 1, "name": "other", "kind": "sleep", "value": None}
        self.answer(wire, "recorded", _schema.VALUE, {"results": [row], "next": 7, "generation": 0, "waits": []})
        self.assertEqual(self.until_said(wire, "recorded", 2)[1], ("recorded", 1, 2, 7))
        self.answer(wire, "recorded", _schema.VALUE, {"results": [], "next": None, "generation": 0, "waits": [{"name": "nap", "asked": 1}]})
        self.assertEqual(self.until_said(wire, "wait"), [("wait", 1, 2, 7, [["nap", 1, 5000]], True)])
        self.answer(wire, "wait", _schema.VALUE, {"results": [], "ended": True})
        with self.worker._changed:
            self.assertTrue(self.worker._changed.wait_for(lambda: not self.worker._runs, 20))
        self.assertEqual(self.said(wire, "complete", "fail", "giveBack"), [])

    def test_a_worker_that_stops_gives_a_run_back_that_waits_for_a_durable_call(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        self.ways.put(lambda: job.step("pay", lambda _: self.worker.stop()))
        self.until_said(wire, "step")
        self.answer(wire, "step", _schema.TRUE)
        self.assertEqual(self.until_said(wire, "giveBack"), [("giveBack", 1, 1, True)])

    def test_what_is_no_join_is_refused_where_it_is_made(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        self.assertEqual(list(job.join("none", [])), [])
        for option, name, jobs in (
            ("join", "n", "jobs"),
            ("join", "n", [["no", "job"], 7]),
            ("join", "n", [millrace.new_job("a", b"x" * 2**20) for _ in range(18)]),
        ):
            with self.subTest(name=name), self.assertRaises(millrace.Error) as caught:
                job.join(name, jobs)
            self.assertEqual(caught.exception.details["option"], option)
        self.ways.put(lambda: None)

    def test_jobs_that_a_handler_enqueues_come_with_its_completion_or_not_at_all(self):
        wire = self.attach()
        for fails in (False, True):
            (job,) = self.begin(wire, 1)
            with self.assertRaisesRegex(TypeError, r"^enqueue\(\) got an unexpected keyword argument 'dealy'; did you mean 'delay'"):
                job.enqueue("b", dealy=1)
            job.enqueue("b", 2, delay=1)
            with self.assertRaises(millrace.Error) as caught:
                job.enqueue("b", b"x" * 17 * 2**20)
            self.assertEqual(caught.exception.details["option"], "enqueue")

            def handler():
                if fails:
                    raise ValueError("no")

            self.end(handler)
            said = wire.said[-1][1:]
            self.assertEqual(said[:1] if fails else said, ("fail",) if fails else ("complete", 1, 1, None, [["b", "2", None, None, 1000]]))
            self.answer(wire, said[0], _schema.TRUE)

    def test_an_output_that_does_not_fit_beside_the_jobs_fails_its_run(self):
        wire = self.attach()
        wire.limits = self.worker._limits = wire.limits._replace(data_bytes=16 * 2**20)
        (job,) = self.begin(wire, 1)
        job.enqueue("b", b"x" * 10 * 2**20)
        self.end(lambda: b"x" * 10 * 2**20)
        op, _, _, error, retry = wire.said[-1][1:]
        self.assertEqual((op, error[0], retry), ("fail", "Error", False))

    def test_a_question_of_a_run_that_is_lost_is_refused(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        errors = []

        def ask():
            try:
                list(job.parents())
            except millrace.Error as error:
                errors.append(error.code)

        asked = threading.Thread(target=ask)
        asked.start()
        self.until_said(wire, "parents")
        wire.deliver(notices=[[_schema.LOST, "s", 1, 1]])
        asked.join(20)
        ask()
        self.assertEqual(errors, ["STALE_RUN", "STALE_RUN"])
        self.ways.put(lambda: None)

    def test_a_cancel_says_why_and_by_whom_if_the_server_does(self):
        wire = self.attach()
        one, two = self.begin(wire, 1), self.begin(wire, 2)
        cancel = _schema.ABORT_CAUSES.index("cancel")
        wire.deliver(notices=[[_schema.ABORT, "s", 1, 1, cancel, "wrong file", "ada"], [_schema.ABORT, "s", 2, 1, cancel]])
        said = [(job.abort_cause, job.cancel_reason, job.cancelled_by) for (job,) in (one[-1:], two[-1:])]
        self.assertEqual(said, [("cancel", "wrong file", "ada"), ("cancel", None, None)])

    def test_a_grant_that_there_is_no_thread_for_is_given_back(self):
        wire = self.attach()
        with unittest.mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")):
            wire.deliver(grants=[grant(1)])
        self.assertEqual(wire.said[-1][1:], ("giveBack", 1, 1))

    def test_what_may_succeed_later_is_as_the_protocol_has_it(self):
        rows = re.findall(r"^\| `([A-Z_]+)` \| (yes)? *\|$", PROTOCOL, re.M)
        self.assertGreater(len(rows), 40)
        self.assertEqual(_schema.RETRYABLE, {code for code, again in rows if again})
        self.assertLessEqual(runs.OVER | runs.HOPELESS, {code for code, again in rows if not again})
