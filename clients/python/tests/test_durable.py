"""Durable calls of a handler in a thread: what they give, how they end its run, and what is refused."""

import datetime
import threading
import unittest
import unittest.mock

import millrace
from millrace import durable

from .support import Engine, Recorder, grant

HOUR = 3600


def run(handler, engine, number=1, **fields):
    """Runs the handler in this thread. Returns what it has returned or raised, how its run ends, and what it has said."""
    worker = Recorder(engine)
    job = millrace.Job(worker, grant(1, number, **fields))
    try:
        outcome = handler(job)
    except BaseException as error:
        outcome = error
    job._durable.finish(job.ending or ("complete",))
    return outcome, job.ending, worker.said


def option(call, *args):
    """The code and the option of a refusal."""
    try:
        return call(*args)
    except millrace.Error as error:
        return error.code, error.details.get("option")


class Results(unittest.TestCase):
    def setUp(self):
        self.engine, self.called = Engine(), []

    def step(self, job, name, value=None):
        def fn(step):
            self.called.append((name, step.key, step.attempt))
            return value

        return job.step(name, fn)

    def test_a_step_is_called_once_and_a_sleep_ends_its_run(self):
        ended = []

        def handler(job):
            first = self.step(job, "first", (1, {"at": None}))
            second = self.step(job, "second", b"\0")
            try:
                job.sleep("nap", HOUR)
            finally:
                ended.append((job.run, job.abort_cause, job.aborted.is_set()))
            return [first, second, self.step(job, "third")]

        outcome, ending, _ = run(handler, self.engine)
        self.assertIsInstance(outcome, millrace.RunSuspended)
        self.assertEqual(ending, ("asleep",))
        self.assertEqual(self.engine.ends, {"nap": HOUR * 1000})
        self.engine.wake()
        self.assertEqual(run(handler, self.engine, 2)[:2], ([[1, {"at": None}], b"\0", None], None))
        self.assertEqual(ended, [(1, "suspended", True), (2, None, False)])
        id = millrace.Job(Recorder(self.engine), grant(1)).id
        self.assertEqual(self.called, [(name, "%s:%s" % (id, name), 1) for name in ("first", "second", "third")])

    def test_the_key_of_a_step_differs_after_a_retry_from_the_start(self):
        self.engine.generation = 2
        run(lambda job: self.step(job, "a"), self.engine, 2)
        self.assertRegex(self.called[0][1], "^[0-9a-f-]{36}:a:2$")

    def test_a_run_whose_end_is_ignored_gets_nothing_more(self):
        def handler(job):
            for name in ("nap", "more", "most"):
                try:
                    job.sleep(name, HOUR)
                except BaseException as error:
                    self.called.append(type(error))
            return "done"

        self.assertEqual(run(handler, self.engine)[:2], ("done", ("asleep",)))
        self.assertEqual(self.called, [millrace.RunSuspended] * 3)
        self.assertEqual(list(self.engine.ends), ["nap"])

    def test_a_message_is_waited_for_and_taken_once_in_its_order(self):
        def handler(job):
            first = job.wait_for("decided")
            return [first, job.wait_for("decided", as_="again"), job.wait_for("decided", as_="late", timeout=HOUR)]

        self.assertEqual(run(handler, self.engine)[1], ("asleep",))
        self.assertEqual(self.engine.ends, {"decided": float("inf")})
        self.engine.send("other", "0")
        self.engine.send("decided", '{"yes":true}')
        self.engine.send("decided", "null")
        self.engine.due(0)
        self.assertEqual(run(handler, self.engine, 2)[1], ("asleep",))
        self.engine.wake()
        self.assertEqual(run(handler, self.engine, 3)[:2], ([{"yes": True}, None, None], None))
        self.assertEqual([row["kind"] for row in self.engine.results], ["message"] * 3)

    def test_a_message_that_is_a_sleep_in_the_code_does_not_fit(self):
        self.assertEqual(run(lambda job: job.wait_for("nap"), self.engine)[1], ("asleep",))
        self.assertEqual(run(lambda job: job.sleep("nap", 1), self.engine, 2)[1][0], "fail")

    def test_a_sleep_until_a_time(self):
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=2)
        run(lambda job: job.sleep("nap", at), self.engine)
        self.assertAlmostEqual(self.engine.ends["nap"], at.timestamp() * 1000, delta=1)

    def test_a_step_that_fails_is_tried_again_and_at_last_its_failure_is_stored(self):
        def handler(job):
            try:
                job.step("pay", self.pay)
            except millrace.StepFailedError as error:
                self.called.append((error.code, error.step, error.error["name"], type(error.__cause__).__name__, str(error.__cause__)))
                return [error.message, self.step(job, "undo")]

        for attempt in (1, 2):
            outcome, ending, _ = run(handler, self.engine, attempt, attempt=attempt, max_attempts=3)
            self.assertIsInstance(outcome, millrace.RunSuspended)
            self.assertEqual((ending[0], ending[1][:2], ending[2:]), ("fail", ["ValueError", "no"], (None,)))
        for number in (3, 4):
            outcome, ending, _ = run(handler, self.engine, number, attempt=3, max_attempts=3)
            self.assertEqual((outcome, ending), (["step 'pay' has failed: no", None], None))
        failed = ("STEP_FAILED", "pay", "ValueError", "ValueError", "no")
        self.assertEqual([each[:5] for each in self.called if each[0] != "undo"], [("pay", 1), ("pay", 2), ("pay", 3), failed, failed])
        # The attempts begin again with each recorded result.
        self.assertEqual([each[2] for each in self.called if each[0] == "undo"], [1])

    def pay(self, step):
        self.called.append(("pay", step.attempt))
        raise ValueError("no")

    def test_what_a_step_raises_says_how_its_run_ends(self):
        class Odd(BaseException):
            pass

        for error, ending in (
            (millrace.Retry(5), ("fail", "Retry", 5000)),
            (millrace.Cancel("no longer wanted"), ("fail", "Cancel", False, True)),
            (millrace.Snooze(5), ("snooze", 5000, None)),
            (Odd(), ("fail", "Odd", None)),
            (SystemExit(1), ("fail", "SystemExit", None)),
            (StopIteration(), ("fail", "StopIteration", None)),
        ):
            with self.subTest(error=error):

                def raises(_):
                    raise error

                said = run(lambda job: job.step("a", raises), Engine())[1]
                self.assertEqual((said[0], said[1][0], *said[2:]) if said[0] == "fail" else said, ending)

    def test_what_no_further_attempt_would_mend_is_stored_at_once(self):
        def raises(_):
            raise millrace.Fail("never")

        for fn, code in (
            (raises, None),
            (lambda _: object(), "OPTION_TYPE"),
            (lambda _: 2**70 + 1, "OPTION_RANGE"),
            (lambda _: "x" * 2_000, "OPTION_RANGE"),
            (lambda _: (each for each in ()), "OPTION_TYPE"),
        ):
            with self.subTest(code=code):
                engine = Engine()
                outcome, ending, _ = run(lambda job: job.step("a", fn), engine)
                self.assertIsInstance(outcome, millrace.StepFailedError)
                self.assertEqual((ending, outcome.error.get("code"), len(engine.results)), (None, code, 1))
                # Uncaught, it fails the job permanently.
                self.assertIs(millrace.failures.failure(outcome)[1], False)

    def test_another_end_that_a_step_asks_for_is_no_failure_at_its_last_attempt(self):
        def raises(error):
            raise error

        def stops(job):
            job.abort_cause = "stop"
            raise ValueError("cut short")

        for fn, ending in (
            (lambda job: job.join("j", [millrace.new_job("b")]), ("join", "j")),
            (lambda job: raises(millrace.Cancel("no")), ("fail",)),
            (lambda job: raises(millrace.Snooze(1)), ("snooze", 1000)),
            (stops, ("giveBack", True)),
        ):
            with self.subTest(ending=ending):
                said = run(lambda job: job.step("a", lambda _: fn(job)), self.engine, attempt=4)[1]
                self.assertEqual((said[: len(ending)], self.engine.results), (ending, []))

    def test_the_attempts_begin_again_with_the_end_of_a_sleep(self):
        found = run(lambda job: [job.sleep("short", 0), job.step("a", lambda step: step.attempt)], self.engine, 3, attempt=3)[0]
        self.assertEqual(found, [None, 1])

    def test_what_the_engine_refuses_ends_the_run(self):
        for code, fields, retry in (("OPTION_RANGE", {"option": "step"}, False), ("STALE_RUN", {}, None)):
            self.engine.refusal = millrace.Error(code, "no", fields)
            outcome, ending, _ = run(lambda job: self.step(job, "a"), self.engine)
            self.assertIsInstance(outcome, millrace.RunSuspended)
            self.assertEqual((ending[0], ending[1][3], ending[2]), ("fail", code, retry))

    def test_a_stored_value_that_is_no_json_is_hopeless(self):
        self.engine.results = [{"number": 1, "asked": 1, "name": "a", "kind": "step", "value": "{"}]
        self.assertIsInstance(run(lambda job: self.step(job, "a"), self.engine, 2)[0], millrace.Fail)

    def test_the_causes_of_a_failure_are_those_that_were_stored(self):
        error = {"name": "Lost\0", "message": "m", "cause": [{"name": "OSError", "message": "n", "code": "EIO"}]}
        failed = millrace.StepFailedError("a", error)
        self.assertEqual([type(failed.__cause__), str(failed.__cause__)], [Exception, "m"])
        inner = failed.__cause__.__cause__
        self.assertEqual([type(inner).__name__, str(inner), inner.code, inner.__cause__], ["OSError", "n", "EIO", None])

    def test_a_worker_that_stops_gives_the_run_back_at_its_next_durable_call(self):
        def handler(job):
            self.step(job, "first")
            job._worker._stopping = True
            self.step(job, "second")

        def meanwhile(job):
            job.step("third", lambda _: job._durable.stop())

        outcome, ending, _ = run(handler, self.engine)
        self.assertEqual((type(outcome), ending), (millrace.RunSuspended, ("giveBack", True)))
        self.assertEqual([name for name, *_ in self.called], ["first"])
        engine = Engine()
        outcome, ending, _ = run(meanwhile, engine)
        self.assertEqual((type(outcome), ending, len(engine.results)), (millrace.RunSuspended, ("giveBack", True), 1))


class Refusals(unittest.TestCase):
    def test_what_is_no_durable_call_is_refused_and_the_handler_goes_on(self):
        now = datetime.datetime.now(datetime.timezone.utc)

        def handler(job):
            job.step("twice", str)
            return [
                option(job.step, "twice", str),
                option(job.step, "start", str),
                option(job.step, "", str),
                option(job.step, "x" * 513, str),
                option(job.step, 7, str),
                option(job.step, ["a"], str),
                option(job.step, "a", "no function"),
                option(job.changed, ""),
                option(job.wait_for, ""),
                option(lambda: job.wait_for("m", timeout=-1)),
                option(job.sleep, "b", -1),
                option(job.sleep, "b", None),
                option(job.sleep, "b", "2d"),
                option(job.sleep, "b", now.replace(year=now.year + 101)),
                option(job.step, "outer", lambda _: job.step("inner", str)),
            ]

        found = run(handler, Engine(), max_attempts=1)[0]
        name, number = ("OPTION_TYPE", "name"), ("OPTION_RANGE", "name")
        self.assertEqual(found[:8], [name, name, number, number, name, name, ("OPTION_TYPE", "fn"), number])
        self.assertEqual(found[8:10], [("OPTION_TYPE", "message"), ("OPTION_RANGE", "timeout")])
        self.assertEqual(found[10:14], [("OPTION_RANGE", "sleep"), *[("OPTION_TYPE", "sleep")] * 2, ("OPTION_RANGE", "sleep")])
        self.assertEqual(found[14], ("STEP_FAILED", None))

    def test_a_step_in_a_step_says_so(self):
        failed = run(lambda job: job.step("outer", lambda _: job.step("inner", str)), Engine(), max_attempts=1)[0]
        self.assertRegex(failed.message, "'inner' is asked for within the step 'outer'.*outside of steps")

    def test_a_second_open_call_of_a_thread_is_refused(self):
        refused = []

        def other(job):
            refused.append(option(job.step, "b", str))

        def fn(job):
            thread = threading.Thread(target=other, args=[job])
            thread.start()
            thread.join()

        self.assertIsNone(run(lambda job: job.step("a", lambda _: fn(job)), Engine())[0])
        self.assertEqual(refused, [("OPTION_TYPE", "name")])


class Now:
    """A timer whose time has come."""

    def __init__(self, _, call, args):
        self.call, self.args = call, args

    def start(self):
        self.call(*self.args)

    def cancel(self):
        pass


class Changes(unittest.TestCase):
    """Code that has changed since the job has recorded something."""

    def setUp(self):
        patched = unittest.mock.patch.object(threading, "Timer", Now)
        patched.start()
        self.addCleanup(patched.stop)
        self.engine = Engine()
        run(self.older, self.engine)

    def older(self, job):
        job.step("a", lambda _: 1)
        job.step("b", lambda _: 2)
        job.sleep("nap", HOUR)

    def end(self, handler):
        _, ending, said = run(handler, self.engine, 2)
        return ending and (ending[0], *ending[1][:2], *ending[2:]) if ending and ending[0] == "fail" else ending or said

    def test_a_handler_that_asks_for_another_name_ends_its_run_without_an_attempt(self):
        called = []

        def renamed(job):
            job.step("a", called.append)
            job.step("c", called.append)

        message = "STEPS_CHANGED: the handler asks for 'c', and its job has recorded 'b' next: guard the change with changed('...')"
        op, name, told, *others = self.end(renamed)
        self.assertEqual((op, name, told[: len(message)]), ("fail", "StepsChangedError", message))
        self.assertEqual((others, called), ([None, None, None, True], []))

    def test_a_call_of_another_kind_and_a_step_in_place_of_an_open_sleep(self):
        def other_kind(job):
            job.step("a", str)
            job.sleep("b", 1)

        def awake(job):
            job.step("a", str)
            job.step("b", str)
            job.step("nap", str)

        def missing(job):
            job.step("a", str)
            job.step("b", str)
            job.step("after", str)

        for handler, names in ((other_kind, "'b'.*'b'"), (awake, "'nap'.*'nap'"), (missing, "'after'.*'nap'")):
            with self.subTest(names=names):
                self.assertRegex(self.end(handler)[2], names)

    def test_changed_is_false_where_the_job_had_passed_and_true_elsewhere(self):
        found = []

        def handler(job):
            job.step("a", str)
            found.append(job.changed("early"))
            job.step("b", str)
            job.sleep("nap", HOUR)
            found.append(job.changed("late"))
            found.append(job.step("new", lambda _: "new"))

        self.end(handler)
        self.engine.wake()
        for number in (3, 4):
            run(handler, self.engine, number)
        self.assertEqual(found, [False, *[False, True, "new"] * 2])

    def test_a_handler_that_returns_without_what_its_job_has_recorded_warns(self):
        log, *_ = self.end(lambda job: job.step("a", str))
        self.assertEqual((log[0], log[1][0][1]), ("log", 2))
        self.assertIn("the handler has returned, and its job has recorded 'b' next", log[1][0][2])


class Reports(unittest.TestCase):
    def lines(self, said):
        return [fields[0][0][2] if op == "log" else (op, fields[0]) for op, *fields in said if op in ("log", "progress")]

    def handler(self, job):
        job.log("info", "begins")
        job.progress(0.1)
        job.step("a", lambda _: job.log("info", "in a"))
        job.log("info", "behind a")
        job.sleep("nap", HOUR)
        job.log("info", "behind nap")
        job.step("b", lambda _: job.log("info", "in b"))
        job.log("info", "ends")

    def test_a_replay_repeats_no_report(self):
        engine = Engine()
        self.assertEqual(self.lines(run(self.handler, engine)[2]), ["begins", ("progress", 0.1), "in a", "behind a"])
        engine.wake()
        self.assertEqual(self.lines(run(self.handler, engine, 2)[2]), ["behind nap", "in b", "ends"])
        self.assertEqual(self.lines(run(self.handler, engine, 3)[2]), ["ends"])
        self.assertEqual(self.lines(run(self.handler, Engine(), 2)[2])[:2], ["begins", ("progress", 0.1)])

    def test_without_a_durable_call_reports_are_held_for_a_moment(self):
        said, timers = [], []

        class Later(Now):
            daemon = False

            def start(self):
                timers.append(self)

        with unittest.mock.patch.object(threading, "Timer", Later):
            held = durable.HeldReports(False, lambda *report: said.append(report))
            self.assertTrue(held.take("log", 1) and held.take("log", 2))
            self.assertEqual((said, len(timers)), ([], 1))
            Now.start(timers[0])
            self.assertEqual((said, held.take("log", 3)), ([("log", 1), ("log", 2)], False))
            many = durable.HeldReports(False, lambda *report: said.append(report))
            self.assertTrue(all(many.take("log", number) for number in range(durable.HELD_REPORTS)))
            self.assertEqual(len(said), 2 + durable.HELD_REPORTS)
            self.assertFalse(durable.HeldReports(True, said.append).take("log", 1))

    def test_what_is_held_comes_before_the_end_of_its_run(self):
        self.assertEqual(self.lines(run(lambda job: job.log("info", "plain"), Engine(), 2)[2]), ["plain"])


class Waits(unittest.TestCase):
    def test_a_wait_that_others_end_before_is_sent_again(self):
        """An asynchronous run has left another sleep open."""
        engine = Engine()
        engine.ends, engine.asked = {"other": 1, "nap": HOUR}, {"other": 1, "nap": 1}
        outcome, ending, _ = run(lambda job: job.sleep("nap", HOUR), engine, 2)
        self.assertEqual((type(outcome), ending), (millrace.RunSuspended, ("asleep",)))
        self.assertEqual([row["name"] for row in engine.results], ["other"])


if __name__ == "__main__":
    unittest.main()
