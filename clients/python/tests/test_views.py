"""Answers: what the vectors say, in the forms of Python."""

import dataclasses
import math
import unittest
from datetime import datetime, timezone

import millrace
from millrace import _readers, _schema, changes, messages, operations, reading

from .support import PROTOCOL, vectors

AT = datetime(2026, 11, 18, 11, 6, 40, tzinfo=timezone.utc)


def answer(name, side="message"):
    vector = next(each for each in vectors() if each["name"] == name and side in each)
    return vector[side]["delivery"]["replies"][0]["value"]


class Views(unittest.TestCase):
    def test_a_job(self):
        said = answer("a job as get tells it")
        # The vector leaves out what is nil.
        job = operations.get(millrace.JobKey(1, 2, 3), payload="full").answer({**dict.fromkeys(("flow", "output"), None), **said})
        self.assertEqual(job.id, str(millrace.JobKey(42, 12345678, 1_795_000_000_000)))
        self.assertEqual((job.name, job.state, job.data, job.output, job.meta, job.flow), ("thumbnail", "failed", {}, None, None, None))
        self.assertEqual((job.timeout, job.heartbeat_timeout, job.backoff), (None, 120, {"type": "fixed", "delay": 0.005}))
        self.assertEqual((job.enqueued_at, job.run_at, job.expires_at), (AT, AT, None))
        self.assertEqual((job.progress, job.progress_note, job.progress_value), (0.5, None, None))
        (attempt,) = job.attempts
        self.assertEqual((attempt.error, attempt.started_at, attempt.worker), ({"name": "Error", "message": "x"}, AT, "w"))
        self.assertEqual(attempt.logs, [millrace.LogLine(AT, "info", "m", {})])
        with self.assertRaises(dataclasses.FrozenInstanceError):
            job.name = "other"

    def test_what_is_set_of_a_job(self):
        said = {**answer("a job as get tells it"), "flow": {"first": {"seq": 1, "node": 2, "enqueuedAt": 3}, "ref": "a", "parents": 2}}
        said["flow"]["onParentFailure"] = "fail"
        said.update(keep=3_153_600_000_000, maxAge=math.inf, maxLost=2, cancellation={"reason": "r", "by": "b"}, lostRuns=1)
        said.update(progress='[1,"note","{\\"rows\\":7}"]', meta='{"by":"x"}', data="no JSON", output=b"\0", expiresAt=2**53)
        job = _readers.job_info(said)
        self.assertEqual((job.keep, job.max_age, job.max_lost, job.lost_runs), ("forever", None, 2, 1))
        self.assertEqual((job.cancel_reason, job.cancelled_by), ("r", "b"))
        self.assertEqual((job.progress, job.progress_note, job.progress_value), (1, "note", {"rows": 7}))
        said.update(originalRunAt=1_795_000_000_000, deadlineAt=1_795_000_000_000)
        self.assertEqual((job.original_run_at, job.deadline_at), (None, None))
        self.assertEqual((_readers.job_info(said).original_run_at, _readers.job_info(said).deadline_at), (AT, AT))
        self.assertEqual((job.meta, job.data, job.output), ({"by": "x"}, "no JSON", b"\0"))
        self.assertEqual(job.expires_at, reading.NEVER)
        self.assertEqual(job.flow, millrace.FlowPlace(str(millrace.JobKey(1, 2, 3)), "a", 2, "fail"))
        self.assertIsNone(operations.get(millrace.JobKey(1, 2, 3), payload="full").answer(None))

    def test_a_job_says_its_tokens_its_lost_workers_and_how_long_it_is_kept(self):
        job = _readers.job_info(answer("get: a job with tokens, lost workers, and a time to be kept", "reply"))
        self.assertEqual((job.tokens, job.max_lost, job.lost_runs, job.keep, job.log_lines, job.max_age), (5, 2, 2, 86_400, 500, 3_600))

    def test_stored_steps(self):
        def asked(**given):
            return operations.steps(millrace.JobKey(42, 1, 1_735_689_600_000), **given)

        page = asked(limit=1).answer(answer("steps: a page", "reply"))
        (step,) = page.steps
        self.assertEqual((step.number, step.name, step.kind, step.run, step.value, step.error), (1, "charge", "step", 1, {"paid": 5}, None))
        self.assertEqual((step.started_at, (step.ended_at - step.started_at).total_seconds()), (AT, 0.02))
        (wait,) = page.waits
        self.assertEqual((wait.name, (wait.until - AT).total_seconds(), page.next), ("then", 90_000, 1))
        (message,) = page.messages
        self.assertEqual((message.name, message.value, message.by, page.kept), ("approved", {"by": "ada"}, "ops", 1))
        last = asked().answer(answer("steps: a failure, on the last page", "reply"))
        self.assertEqual((last.steps[0].value, last.steps[0].error), (None, {"name": "RangeError", "message": "no money"}))
        self.assertEqual((last.waits, last.next), ([], None))
        self.assertIsNone(asked().answer(None))
        self.assertEqual(asked(after=5).fields, ([42, 1, 1_735_689_600_000], 5, 100))

    def test_a_message_goes_to_a_job_by_its_id_or_its_key(self):
        key = millrace.JobKey(1, 2, 3)
        sent = changes.send(key, "approved", {"by": "ada"}, by="ops")
        self.assertEqual((sent.op, sent.fields, sent.answer("taken")), ("send", ([1, 2, 3], None, "approved", '{"by":"ada"}', None, "ops"), "taken"))
        keyed = changes.send(millrace.JobOfKey("order", unique_key="k"), "go", idempotency_key="once")
        self.assertEqual((keyed.fields[0], keyed.fields[2:5]), (None, ("go", None, "once")))

    def test_a_retry_says_where_it_resumes(self):
        key = millrace.JobKey(1, 2, 3)
        self.assertEqual((changes.retry(key).op, changes.retry(key).fields), ("retry", ([1, 2, 3],)))
        self.assertEqual(changes.retry(key, from_="charge").fields, ([1, 2, 3], "charge"))
        keyed = changes.retry(millrace.JobOfKey("order", unique_key="k"), from_="start")
        self.assertEqual((keyed.op, keyed.fields[-1]), ("byKey", "start"))
        self.assertEqual(changes.retry(key, descendants=True).op, "retryTree")
        with self.assertRaisesRegex(millrace.Error, "from_ must be left out with descendants"):
            changes.retry(key, descendants=True, from_="charge")

    def test_an_explanation(self):
        def explained(name):
            return operations.explain(millrace.JobKey(1, 2, 3)).answer(answer(name, "reply"))

        held = explained("explain: what holds a job")
        self.assertEqual((held.name, held.queue, held.state, held.attempt, held.max_attempts), ("mail", "default", "waiting", 0, 4))
        self.assertEqual(held.message, "waits, because key 'customer-7' runs as many jobs as it may: 2 of 2")
        at = datetime(2025, 1, 1, 0, 1, tzinfo=timezone.utc)
        rate = "waits, because queue 'default' has started as many jobs as its rate allows until 2025-01-01T00:01:00.000Z"
        self.assertEqual(held.causes[0], millrace.JobCause("key-limit", held.message, "customer-7", None, 2, 2))
        self.assertEqual(held.causes[1], millrace.JobCause("rate-limit", rate, None, at, None, None))
        several = explained("explain: a job of a producer\u2019s journal, held by several things")
        self.assertEqual([cause.code for cause in several.causes], ["retry", "all-paused", "queue-paused", "workers-full", "shared-limit"])
        self.assertEqual(several.causes[3].message, "waits, because no worker has room for it now: 15 of 16 places are taken")
        runs = explained("explain: a job that runs")
        self.assertEqual((runs.message, runs.causes, runs.id), ("is running at attempt 2 of 4", [], str(millrace.JobKey(1, 2, 3))))
        timed = {**answer("explain: a job that runs", "reply"), "deadlineAt": 1_795_000_000_000}
        runs = operations.explain(millrace.JobKey(1, 2, 3)).answer(timed)
        self.assertEqual((runs.deadline_at, runs.message[28:]), (AT, ", with a deadline of 2026-11-18T11:06:40.000Z"))
        self.assertEqual(explained("explain: a code that only a newer server knows").message, "waits (a-later-cause)")
        self.assertIsNone(explained("explain: none of that id"))

    def test_keys_of_a_queue(self):
        keys = operations.queue_keys("mail", 50).answer(answer("queueKeys", "reply"))
        said = answer("queueKeys", "reply")
        self.assertEqual([key.key for key in keys.keys], [key["key"] for key in said["keys"]])
        self.assertEqual((keys.known, keys.tracked, keys.partial), (said["known"], said["tracked"], said.get("partial", False)))
        key = _readers.queue_keys({**said, "keys": [{**said["keys"][0], "pausedUntil": 1_795_000_000_000, "rate": {"tokens": 2, "nextAt": 0}}]}).keys[0]
        self.assertEqual((key.paused_until, key.rate), (AT, {"tokens": 2, "next_at": None}))
        self.assertIsNone(operations.queue_keys("mail", 50).answer(None))

    def test_what_queues_have_done(self):
        said = answer("history", "reply")
        points = operations.history("default").answer(said)
        self.assertEqual([point.completed for point in points], [point["completed"] for point in said])
        self.assertEqual(points[0].at, reading.moment(said[0]["at"]))
        whole = answer("history of all queues, and of the two busiest", "reply")
        history = operations.queues_history(2).answer(whole)
        self.assertEqual((history.start, history.step, history.total), (reading.moment(whole["from"]), whole["step"], whole["total"]))
        self.assertEqual(list(history.queues), [each["name"] for each in whole["queues"]])
        self.assertEqual(history.queues["mail"]["failed"], next(each for each in whole["queues"] if each["name"] == "mail")["failed"])

    def test_kinds_of_failures(self):
        said = answer("failures", "reply")
        kinds = operations.failures().answer(said)
        self.assertEqual([(kind.fingerprint, kind.count, kind.message) for kind in kinds], [(each["fingerprint"], each["count"], each["message"]) for each in said])
        self.assertEqual([kind.job for kind in kinds], [each["job"] and reading.job_id(each["job"]) for each in said])
        self.assertEqual((kinds[0].first_at, kinds[0].trend), (reading.moment(said[0]["firstAt"]), None))

    def test_a_schedule_is_as_it_is_set(self):
        schedule = _readers.schedule_info(answer("getSchedule", "reply"))
        self.assertEqual(schedule.spec, {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "jitter": 0, "overlap": "skip", "catch_up": "latest"})
        self.assertEqual(millrace.new_job(**schedule.job), ["report", '{"n":1}'])
        self.assertEqual((schedule.runs, schedule.skipped, len(schedule.next_runs), schedule.next_runs[0]), (3, 1, 2, schedule.next_run_at))
        self.assertEqual(schedule.last_result, {"state": "completed", "output": "done", "error": None})
        self.assertEqual(schedule.last_job, str(millrace.JobKey(42, 12345678, 1_794_964_200_007)))

    def test_a_scheduled_job_is_as_new_job_takes_it(self):
        options = dict(queue="q", priority=1, timeout=math.inf, heartbeat_timeout=2.5, ttl=60, tags=["t"], meta={"by": "x"}, keep="forever")
        options["backoff"] = {"type": "linear", "delay": 1.5, "max_delay": 60, "jitter": "full"}
        said = {"name": "a", "queue": "q", "priority": 1, "timeout": math.inf, "heartbeatTimeout": 2500, "ttl": 60_000, "tags": ["t"]}
        said.update(meta='{"by":"x"}', keep=3_153_600_000_000, data=None)
        said["backoff"] = {"type": "linear", "delay": 1500, "maxDelay": 60_000, "jitter": "full"}
        view = {**answer("getSchedule", "reply"), "job": said}
        self.assertEqual(millrace.new_job(**_readers.schedule_info(view).job), millrace.new_job("a", **options))

    def test_a_flow(self):
        flow = _readers.flow_info(answer("listFlows: the next page of a state", "reply")["flows"][0])
        self.assertEqual((flow.id, flow.state, flow.states["blocked"], flow.finished_at), (str(millrace.JobKey(42, 12345678, 1_794_964_200_007)), "running", 1, None))

    def test_a_queue(self):
        settings = {"concurrencyLimit": 2, "rateLimit": {"limit": 5, "period": 60_000, "burst": 5}, "keyTiers": {"someOne": {"perKeyLimit": 1}}}
        settings.update(retention={"failed": {"ageMs": 3_153_600_000_000, "count": 10**12}, "completed": {"ageMs": 1_000, "count": 5}}, defaults={"timeout": math.inf, "keep": 5_000})
        said = dict(name="q", settings=settings, paused=True, pausedJobs=[], pausedKeys=["k"], pausedUntil=1_795_000_000_000, states={}, totals={})
        said.update(pauseEnds=[{"key": "k", "until": 1_795_000_000_000}], oldestWaitingMs=1_500, rate={"tokens": 2, "nextAt": 0})
        queue = _readers.queue_info(said)
        self.assertEqual(queue.settings["rate_limit"], {"limit": 5, "period": 60, "burst": 5})
        self.assertEqual(queue.settings["key_tiers"], {"someOne": {"per_key_limit": 1}})
        self.assertEqual(queue.settings["retention"], {"failed": "forever", "completed": {"age": 1, "count": 5}})
        self.assertEqual(queue.settings["defaults"], {"timeout": math.inf, "keep": 5})
        self.assertEqual((queue.paused_until, queue.pause_ends, queue.oldest_waiting), (AT, [{"key": "k", "until": AT}], 1.5))
        self.assertEqual((queue.rate, queue.retrying), ({"tokens": 2, "next_at": None}, None))

    def test_stats(self):
        vector = next(each for each in vectors() if each["name"] == "stats")
        _, delivery = messages.read_message(bytes.fromhex(vector["hex"])[4:], "open")
        (_, value, _) = messages.read_reply(delivery.replies[0])
        stats = operations.stats("histograms", "all").answer(value)
        said = vector["message"]["delivery"]["replies"][0]["value"]
        self.assertEqual((stats.states, stats.seq, stats.node), (said["states"], said.get("seq", 0), said.get("node", 0)))
        self.assertEqual(stats.queues["default"]["oldest_waiting"], said["queues"]["default"]["oldestWaitingMs"] / 1000)
        self.assertEqual(stats.writer["commit_p99"], said["writer"]["commitMsP99"] / 1000)
        self.assertEqual((stats.failing_left_out, stats.unserved_left_out), (0, 0))
        more = operations.stats("none", "disputed").answer({**value, "failingLeftOut": 30, "unservedLeftOut": 4})
        self.assertEqual((more.failing_left_out, more.unserved_left_out), (30, 4))
        (timing,) = operations.stats("none", "disputed").answer({**value, "names": [{"name": "a", "runMs": {"p99": 20, "buckets": [0, 1]}}]}).names
        self.assertEqual(timing, {"name": "a", "run": {"p99": 0.02, "buckets": [0, 1]}})

    def test_events_and_a_gap(self):
        page = operations.events()(None)
        self.assertEqual((page.op, page.fields), ("events", (0, None)))
        ((event,), mark) = page.answer(answer("events", "reply"))
        at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
        job = str(millrace.JobKey(1, 7, 1_700_000_000_000))
        self.assertEqual((mark, event), (1, millrace.Event(1, "enqueued", at, job, "default", "a", 0, 0)))
        ((gap,), mark) = page.answer(answer("events, with a filter", "reply"))
        self.assertEqual((gap.type, gap.seq, gap.after, gap.resumes_at, mark), ("gap", 4294967400, 4294967296, 4294967401, 4294967400))
        fired = {"seq": 2, "type": "schedule.fired", "at": 1_700_000_000_000, "schedule": "s", "tick": 1_700_000_000_000}
        event = _readers.event({**fired, "job": {"seq": 1, "node": 7, "enqueuedAt": 1_700_000_000_000}})
        self.assertEqual((event.job, event.tick, event.schedule, event.run), (job, at, "s", None))

    def test_event_types_are_those_of_the_protocol(self):
        row = next(line for line in PROTOCOL.split("\n") if line.startswith("| 1 | `type` | 0 enqueued"))
        places = [each.split(" ")[1] for each in row.split("|")[3].strip().split(", ")]
        self.assertEqual(list(_schema.EVENT_TYPES), places)

    def test_an_answer_that_cannot_be_read_says_which(self):
        with self.assertRaises(millrace.Error) as caught:
            operations.get(millrace.JobKey(1, 2, 3), payload="full").answer({"seq": 1})
        self.assertEqual(caught.exception.code, "PROTOCOL")
        self.assertIn("get", caught.exception.message)
