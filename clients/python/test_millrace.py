"""The client beside the conformance vectors: `python3 -m unittest discover clients/python`."""

import json
import math
import os
import pathlib
import queue
import re
import tempfile
import threading
import time
import unittest
import unittest.mock

import millrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "packages" / "wire" / "vectors"
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text("utf-8")


def revive(value):
    """What JSON cannot say."""
    if "$bytes" in value:
        return bytes.fromhex(value["$bytes"])
    return math.inf if "$number" in value else value


def vectors(*, error=False):
    for file in sorted(VECTORS.glob("*.json")):
        for vector in json.loads(file.read_text("utf-8"), object_hook=revive)["vectors"]:
            if ("error" in vector) == error:
                yield vector


def payload_of(vector):
    whole = bytes.fromhex(vector["hex"])
    assert int.from_bytes(whole[:4], "big") == len(whole) - 4
    return whole[4:]


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def named(record):
    """A record by the names of the vectors, without what is nil."""
    return {camel(name): value for name, value in record._asdict().items() if value is not None}


def without_nil(value):
    if isinstance(value, dict):
        return {key: without_nil(item) for key, item in value.items() if item is not None}
    return [without_nil(item) for item in value] if isinstance(value, list) else value


def told(delivery):
    """A delivery as the vectors tell it."""
    return {
        "renewal": delivery.renewal,
        "replies": [reply_told(*millrace.read_reply(reply)) for reply in delivery.replies],
        "grants": [grant_told(grant) for grant in delivery.grants],
        "notices": [notice_told(*notice) for notice in delivery.notices],
    }


def grant_told(grant):
    return named(grant if grant.joined is None else grant._replace(joined=[named(each) for each in grant.joined]))


def reply_told(id, value, error):
    if error is not None:
        refusal = {"code": error.code, "message": error.message}
        return {"id": id, "refusal": {**refusal, "details": error.details} if error.details else refusal}
    if isinstance(value, millrace.Attached):
        told = {"lost": [{"seq": seq, "run": run} for seq, run in value.lost]}
        if value.disputed:
            told["disputed"] = value.disputed
        if value.order is not None:
            told["order"] = millrace.ORDERS[value.order]
        return {"id": id, "value": told}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {"id": id, "value": [{**named(key), "created": created} for key, created in value]}
    return {"id": id, "value": value}


def notice_told(kind, *fields):
    if kind == millrace.REATTACH:
        return {"kind": "reattach"}
    if kind == millrace.GAP:
        return {"kind": "gap", "first": fields[0], "last": fields[1]}
    if kind == millrace.STOP:
        return {"kind": "stop", "session": fields[0], "timeout": fields[1]}
    run = {"session": fields[0], "seq": fields[1], "run": fields[2]}
    if kind == millrace.LOST:
        return {"kind": "lost", **run}
    said = {name: value for name, value in zip(("reason", "by"), fields[4:]) if value is not None}
    return {"kind": "abort", **run, "cause": millrace.ABORT_CAUSES[fields[3]], **said}


def job_of(job):
    """The vector's job through the options that people use, which are in seconds."""
    options = {}
    for name, value in job.items():
        name = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
        if name in ("delay", "run_at", "timeout", "heartbeat_timeout", "ttl", "idempotency_ttl"):
            value = value / 1000
        elif name == "backoff":
            value = {"type": value["type"], "delay": value["delay"] / 1000, "factor": value.get("factor"), "jitter": value.get("jitter")}
            value["max_delay"] = job["backoff"]["maxDelay"] / 1000 if "maxDelay" in job["backoff"] else None
        elif name == "unique":
            value = (value["key"], value["onConflict"], value.get("until"))
        elif name == "throttle":
            value = {"key": value["key"], "period": value["period"] / 1000}
        elif name == "debounce":
            most = value.get("maxDelay")
            value = {"key": value["key"], "delay": value["delay"] / 1000, "mode": value["mode"], "max_delay": most and most / 1000}
        elif name == "meta" or (name == "data" and isinstance(value, str)):
            value = json.loads(value)
        options[name] = value
    return millrace.new_job(options.pop("name"), **options)


def field_of(data, path):
    for name in path.split("."):
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data


class Vectors(unittest.TestCase):
    def test_every_payload_is_read_and_written_again_as_the_same_bytes(self):
        count = 0
        for vector in vectors():
            with self.subTest(vector["name"]):
                payload = payload_of(vector)
                again = millrace.pack(millrace.unpack(payload))
                if vector.get("canonical", True):
                    self.assertEqual(again.hex(), payload.hex())
                else:
                    self.assertLessEqual(len(again), len(payload))
                count += 1
        self.assertGreater(count, 100)

    def test_what_a_server_says_means_what_the_vectors_say(self):
        types = {millrace.WELCOME: "welcome", millrace.DELIVERY: "delivery", millrace.PING: "ping", millrace.PONG: "pong"}
        for vector in vectors():
            if vector["from"] != "server":
                continue
            with self.subTest(vector["name"]):
                message = vector["message"]
                state = "greeting" if message["type"] == "welcome" else "open"
                type, fields = millrace.read_message(payload_of(vector), state)
                self.assertEqual(types.get(type, "goodbye"), message["type"])
                if type == millrace.DELIVERY:
                    expected = {name: part for name, part in message["delivery"].items() if name != "events"}
                    # Values have no nil left out, and those of properties may be nil: both sides lose them.
                    self.assertEqual(without_nil(told(fields)), without_nil(expected))
                elif type == millrace.WELCOME:
                    scopes = ["enqueue work read admin".split()[scope] for scope in fields.scopes]
                    expected = {"type": "welcome", **named(fields), "scopes": scopes, "limits": named(fields.limits)}
                    self.assertEqual(expected, message)
                elif type == millrace.GOODBYE:
                    self.assertEqual(fields, [message["code"], message["message"], message["retryAfterMs"]])
                else:
                    self.assertEqual(fields, [message["nonce"]])

    def test_what_a_server_may_not_say_is_refused_with_the_code(self):
        for vector in vectors(error=True):
            whole = bytes.fromhex(vector["hex"])
            if vector["from"] != "server" or len(whole) < 5:
                continue
            with self.subTest(vector["name"]), self.assertRaises(millrace.ProtocolError) as caught:
                millrace.read_message(whole[4:], "open")
            self.assertEqual(caught.exception.code, vector["error"])

    def test_a_reply_that_cannot_be_read_fails_its_call_alone(self):
        replies = [[1, millrace.TRUE], [2, 99, "of a newer server"], [3, millrace.ENQUEUED, 7], [4, millrace.VALUE, "x"]]
        read = list(millrace.read_replies(replies))
        self.assertEqual([(id, value) for id, value, _ in read], [(1, True), (2, None), (3, None), (4, "x")])
        self.assertEqual([error and error.code for _, _, error in read], [None, "PROTOCOL", "PROTOCOL", None])
        for broken in ([], ["x", 99], 7):
            with self.assertRaises(millrace.ProtocolError):
                list(millrace.read_replies([broken]))

    def test_jobs_are_written_byte_by_byte_as_the_vectors_have_them(self):
        count = 0
        for vector in vectors():
            message = vector["message"]
            if message["type"] != "requests" or any(each["command"]["op"] != "enqueue" for each in message["requests"]):
                continue
            with self.subTest(vector["name"]):
                requests = []
                for each in message["requests"]:
                    requests.append(millrace.request(each["id"], "enqueue", [job_of(job) for job in each["command"]["jobs"]]))
                self.assertEqual(millrace.frame(millrace.REQUESTS, requests).hex(), vector["hex"])
                count += 1
        self.assertGreater(count, 5)

    def test_what_a_worker_says_is_written_byte_by_byte(self):
        by_name = {vector["name"]: vector["hex"] for vector in vectors()}
        session = "0c9d2a3e-7f41-4c55-9b1e-64a1f7e2d008"
        said = {
            "drain": ("drain", session),
            "leave": ("leave", session),
            "complete: no output": ("complete", 42, 1, None),
            "complete: output": ("complete", 42, 1, millrace.encode_data("A.PNG")),
            "fail: for good": ("fail", 42, 1, ["Error", "x"], False),
            "fail: cancelled by its handler": ("fail", 42, 1, ["CancelJobError", "no longer wanted"], False, True),
            "cancel: why, and by whom": ("cancel", [42, 12345678, 1_795_000_000_000], "wrong file", "ada"),
            "snooze": ("snooze", 42, 1, 60_000),
            "giveBack": ("giveBack", 42, 1),
            "heartbeat": ("heartbeat", 42, 1),
            "checkpoint": ("checkpoint", 42, 1, millrace.encode_data({"page": 3})),
            "join": ("join", 42, 1, "pages", [millrace.new_job("page", {"url": url}) for url in "ab"]),
            "parents: of one join": ("parents", 42, 2, 0, 2),
            "progress": ("progress", 42, 1, 0.5, None),
            "progress: with a value": ("progress", 42, 1, 0.5, None, millrace.encode_data({"rows": 7})),
            "watch": ("watch", [42, 12345678, 1_795_000_000_000]),
            "unwatch": ("unwatch", 17),
            "stats": ("stats",),
            "stats: percentiles alone, and definitions that are disputed": ("stats", 1, 1),
        }
        for name, (op, *fields) in said.items():
            with self.subTest(name):
                self.assertEqual(millrace.frame(millrace.REQUESTS, [millrace.request(1, op, *fields)]).hex(), by_name[name])
        defaults = {"resize": {"queue": "images", "timeout": 60, "backoff": {"type": "fixed", "delay": 5}}}
        options = {"queues": ["images", "mail"], "order": "strict", "min_concurrency": 8, "concurrency": 16, "name": "worker-1"}
        worker = millrace.Worker("unix:none", {"thumbnail": print, "resize": print}, defaults=defaults, **options)
        worker.uuid = session
        with unittest.mock.patch("socket.gethostname", return_value="alpha"), unittest.mock.patch("os.getpid", return_value=4711):
            attach = millrace.request(1, "attach", worker._session())
        name = "attach: its queues in a strict order"
        self.assertEqual(millrace.frame(millrace.REQUESTS, [attach]).hex(), by_name[name])
        hello = millrace.frame(millrace.HELLO, [1, 1], None, ["example 1.0", "alpha", 4711, ""])
        self.assertEqual(hello.hex(), by_name["hello without a token"])


class Options(unittest.TestCase):
    def test_unique_keys_of_data_are_those_of_every_language(self):
        file = ROOT / "packages" / "core" / "vectors" / "uniqueKeys.json"
        for vector in json.loads(file.read_text("utf-8"))["vectors"]:
            with self.subTest(vector["name"]):
                data = vector["data"]
                if "by" in vector:
                    data = {path: field_of(vector["data"], path) for path in vector["by"]}
                elif isinstance(data, dict) and ("$none" in data or "$bytes" in data):
                    data = bytes.fromhex(data["$bytes"]) if "$bytes" in data else None
                elif data is None:
                    continue  # Python has one value for null and for no data.
                self.assertEqual(millrace.unique_key(data), vector["key"])
        for number in (2**53 + 1, 10**400):
            with self.assertRaises(millrace.Error):
                millrace.unique_key([number])

    def test_what_no_server_takes_is_refused_where_it_is_made(self):
        refused = {
            "name": [{"name": None}, {"name": "a b"}, {"name": 7}],
            "queue": [{"queue": ""}],
            "priority": [{"priority": 0.5}, {"priority": 1_000_001}, {"priority": "1"}],
            "delay": [{"delay": -1}, {"delay": "1"}, {"delay": math.nan}, {"delay": True}],
            "run_at": [{"run_at": math.inf}, {"run_at": -1}],
            "idempotency_key": [{"idempotency_key": ""}, {"idempotency_key": "\U0001f600" * 257}, {"idempotency_key": "\ud800"}],
            "unique": [{"unique": ("k", "skipp")}, {"unique": ("", "skip")}, {"unique": ("k", "skip", "run")}],
            "max_attempts": [{"max_attempts": 0}],
            "timeout": [{"timeout": 0}, {"timeout": 1e-10}],
            "heartbeat_timeout": [{"heartbeat_timeout": -1}],
            "backoff.type": [{"backoff": {"type": "none", "delay": 1}}],
            "backoff.factor": [{"backoff": {"type": "linear", "delay": 1, "factor": 0.5}}],
            "backoff.jitter": [{"backoff": {"type": "linear", "delay": 1, "jitter": 2}}],
            "ttl": [{"ttl": 0}],
            "weight": [{"weight": 0}],
            "concurrency_key": [{"concurrency_key": 7}],
            "tags": [{"tags": "one"}, {"tags": ["a"] * 33}, {"tags": [None]}],
            "meta": [{"meta": "x" * 16_384}],
            "debounce.delay": [{"debounce": {"key": "k", "delay": 0}}],
            "debounce.key": [{"debounce": {"key": None, "delay": 1}}],
            "throttle.period": [{"throttle": {"key": "k", "period": 0}}, {"throttle": {"key": "k", "period": None}}],
            "backoff.delay": [{"backoff": {"type": "fixed", "delay": None}}],
            "max_age": [{"max_age": 0}],
        }
        for option, cases in refused.items():
            for case in cases:
                with self.subTest(case), self.assertRaises(millrace.Error) as caught:
                    millrace.new_job(**{"name": "a", **case})
                self.assertIn(caught.exception.code, ("OPTION_TYPE", "OPTION_RANGE"))
                self.assertEqual(caught.exception.details["option"], option)
        with self.assertRaises(millrace.Error) as caught:
            millrace.new_job("a", delay=-1)
        self.assertEqual((caught.exception.code, caught.exception.details), ("OPTION_RANGE", {"option": "delay", "limit": 0}))

    def test_durations_of_more_than_a_hundred_years_are_as_long_as_that(self):
        century = 100 * 365 * 86_400_000
        self.assertEqual(millrace.new_job("a", delay=1e300), ["a", None, None, None, century])
        self.assertEqual(millrace.new_job("a", delay=math.inf), ["a", None, None, None, century])
        self.assertEqual(millrace.new_job("a", timeout=math.inf)[9], math.inf)
        self.assertEqual(millrace.Snooze(0.0001).delay_ms, 1)

        with self.assertRaises(millrace.Error):
            millrace.Snooze(None)

    def test_a_wrong_keyword_names_what_was_called_and_what_is_near(self):
        client = millrace.Client("unix:none")
        for call, told in (
            (lambda: client.enqueue("a", dealy=5), r"enqueue\(\) got an unexpected keyword argument 'dealy'; did you mean 'delay'\?"),
            (lambda: client.enqueue("a", xyz=5), r"enqueue\(\) got an unexpected keyword argument 'xyz'; it takes queue, "),
            (
                lambda: millrace.Worker("unix:none", {"a": print}, defaults={"a": {"wieght": 2}}),
                r"the defaults of 'a' got an unexpected keyword argument 'wieght'; did you mean 'weight'\?",
            ),
        ):
            with self.assertRaisesRegex(TypeError, told):
                call()

    def test_the_token_is_the_given_one_or_the_environments_or_that_beside_a_daemons_socket(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, clear=False) as environment:
            environment.pop("MILLRACE_TOKEN", None)
            file = os.path.join(folder, "jobs.db")
            own = "unix:%s-socket" % file
            self.assertIsNone(millrace._token_of(own, None))
            with open(file + "-token", "w") as token:
                token.write("kept beside the file\n")
            self.assertEqual(millrace._token_of(own, None), "kept beside the file")
            self.assertEqual(millrace._token_of(own, "given"), "given")
            for other in ("unix:%s.sock" % file, "tcp://127.0.0.1:7411"):
                self.assertIsNone(millrace._token_of(other, None))
            environment["MILLRACE_TOKEN"] = "of the environment"
            self.assertEqual(millrace._token_of(own, None), "of the environment")

    def test_a_worker_of_options_that_no_server_takes_is_refused(self):
        for options in ({"concurrency": 0}, {"min_concurrency": 5}, {"abort_grace": -1}, {"queues": ["a b"]}, {"order": "strict"}, {"order": "other", "queues": ["a"]}, {"defaults": {"a": {"weight": 0}}}):
            with self.subTest(options), self.assertRaises(millrace.Error):
                millrace.Worker("unix:none", {"a": print}, **options)


class Frames(unittest.TestCase):
    def test_many_requests_go_in_as_many_frames_as_the_server_takes(self):
        requests = [millrace.request(id, "complete", id, 1, "x" * 100) for id in range(1, 20)]
        self.assertEqual(millrace.request_frames(requests, 2**20), [millrace.frame(millrace.REQUESTS, requests)])
        frames = millrace.request_frames(requests, 300)
        self.assertEqual([request for each in frames for request in millrace.unpack(each[4:])[1]], requests)
        for each in frames:
            self.assertEqual(int.from_bytes(each[:4], "big"), len(each) - 4)
            self.assertLessEqual(len(each) - 4, 300)
        self.assertLess(len(frames), 19)
        many = millrace.request_frames([[id, millrace.OPS["stats"]] for id in range(10_001)], 2**20)
        self.assertEqual([len(millrace.unpack(each[4:])[1]) for each in many], [10_000, 1])

    def test_one_request_of_more_than_a_frame_is_refused(self):
        with self.assertRaises(millrace.Error) as caught:
            millrace.request_frames([millrace.request(1, "complete", 1, 1, "x" * 300)], 300)
        self.assertEqual((caught.exception.code, caught.exception.details), ("TOO_LARGE", {"limit": 300}))


LIMITS = millrace.Limits(17 * 2**20, 10_000, 8 * 2**20, 15_000, 45_000, 2**20)


class Wire:
    """A connection that keeps what is said on it, and says what the test says."""

    def __init__(self, limits=LIMITS):
        self.limits, self.hello_sent = limits, time.monotonic()
        self.ended = threading.Event()
        self.said = []
        self.changed = threading.Condition()

    def start(self, on_delivery, on_end):
        self.on_delivery, self.on_end = on_delivery, on_end

    def write(self, *frames):
        names = {code: name for name, code in millrace.OPS.items()}
        with self.changed:
            for each in frames:
                self.said += [(id, names[op], *fields) for id, op, *fields in millrace.unpack(each[4:])[1]]
            self.changed.notify_all()

    def send(self, type, *fields):
        if type == millrace.REQUESTS:
            self.write(millrace.frame(type, *fields))

    def close(self):
        self.ended.set()

    def deliver(self, *replies, grants=(), notices=()):
        self.on_delivery(millrace.Delivery(0, list(replies), list(grants), list(notices), []))


class Producers(unittest.TestCase):
    def setUp(self):
        self.wire = Wire()
        self.client = millrace.Client("unix:none")
        self.client._connection = self.wire
        self.wire.start(self.client._deliver, lambda end: self.client._end(self.wire, end))

    def test_a_result_that_nobody_waits_for_any_more_is_forgotten(self):
        with self.assertRaises(TimeoutError):
            self.client.result(millrace.JobKey(1, 2, 3), timeout=0)
        self.assertEqual(self.wire.said, [(1, "watch", [1, 2, 3]), (2, "unwatch", 1)])
        self.wire.deliver([1, millrace.TRUE], [2, millrace.TRUE])
        self.assertEqual(self.client._waiting, {})

    def test_a_call_that_cannot_be_sent_is_none(self):
        for fields, refused in (([object()], TypeError), (["x" * 18 * 2**20], millrace.Error)):
            with self.subTest(refused), self.assertRaises(refused):
                self.client.call("get", *fields)
        with self.assertRaises(millrace.Error) as caught:
            self.client.enqueue_many([["a"]] * 10_001)
        self.assertEqual(caught.exception.details, {"option": "jobs", "limit": 10_000})
        for job in ("no id", (1, 2), (1, 2, None), (2**48, 1, 1)):
            with self.subTest(job), self.assertRaises((millrace.Error, ValueError)):
                self.client.cancel(job)
        for said in ({"reason": ""}, {"reason": "x" * 1_001}, {"by": "x" * 129}):
            with self.subTest(said), self.assertRaises(millrace.Error) as caught:
                self.client.cancel(millrace.JobKey(1, 2, 3), **said)
            self.assertEqual(caught.exception.code, "OPTION_RANGE")
        self.assertEqual((self.client._waiting, self.wire.said), ({}, []))


class Lists(unittest.TestCase):
    """A client whose calls are answered by the test."""

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

    def test_what_no_server_takes_is_refused_by_the_call_and_not_by_the_first_item(self):
        client = self.client()
        refused = {
            "state": lambda: client.jobs(state="dead"),
            "queue": lambda: client.jobs(queue="a b"),
            "tag": lambda: client.jobs(tag=7),
            "search": lambda: client.jobs(search=""),
            "page": lambda: client.workers(page=501),
        }
        for option, call in refused.items():
            with self.subTest(option), self.assertRaises(millrace.Error) as caught:
                call()
            self.assertEqual(caught.exception.details["option"], option)
        self.assertEqual(self.asked, [])


def grant(seq, run=1, **fields):
    known = dict(session="s", seq=seq, node=1, enqueued_at=1, name="a", queue="default", run=run, attempt=1, max_attempts=4)
    known.update(priority=0, weight=1, run_at=1, timeout=1000, heartbeat_timeout=0, **fields)
    return millrace.Grant(**{**dict.fromkeys(millrace.Grant._fields), **known})


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
        self.answer(wire, "attach", millrace.ATTACHED, None)
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
        self.answer(first, "checkpoint", millrace.TRUE)
        one.save(3)
        self.break_(first)
        one.save(4)
        second = self.attach()
        self.assertEqual(self.said(second, "checkpoint"), [("checkpoint", 1, 1, "4")])
        self.answer(second, "checkpoint", millrace.REFUSAL, "STORAGE_BUSY", "later")
        self.again.pop()()
        self.assertEqual(self.said(second, "checkpoint"), [("checkpoint", 1, 1, "4")] * 2)
        self.answer(second, "checkpoint", millrace.TRUE)
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
        self.answer(wire, "checkpoint", millrace.REFUSAL, "STORAGE_BUSY", "later")

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
        self.answer(wire, "complete", millrace.REFUSAL, "INTERNAL", "a bug")
        self.assertEqual(wire.said[-1][1:], ("fail", 1, 1, ["INTERNAL", "a bug"]))
        # There is nothing simpler to say: held until its deadline.
        self.answer(wire, "fail", millrace.REFUSAL, "INTERNAL", "a bug")
        self.assertEqual(list(self.worker._runs), [(1, 1)])
        self.assertEqual(len(self.said(wire, "fail")), 1)

    def test_what_is_too_large_fails_for_good(self):
        wire = self.attach()
        self.begin(wire, 1)
        self.end(lambda: "output")
        self.answer(wire, "complete", millrace.REFUSAL, "OPTION_RANGE", "too large")
        self.assertEqual(wire.said[-1][1:], ("fail", 1, 1, ["OPTION_RANGE", "too large"], False))
        self.answer(wire, "fail", millrace.TRUE)
        self.assertEqual(self.worker._runs, {})

    def test_whatever_may_be_done_later_is_said_again_and_what_is_over_is_forgotten(self):
        for code in sorted(millrace.RETRYABLE):
            wire = self.attach()
            self.begin(wire, 1)
            self.end(lambda: "output")
            self.answer(wire, "complete", millrace.REFUSAL, code, "later")
            self.again.pop()()
            self.assertEqual(len(self.said(wire, "complete")), 2, code)
            self.answer(wire, "complete", millrace.REFUSAL, "STALE_RUN", "gone")
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
            self.answer(wire, "fail", millrace.TRUE)

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
            self.answer(wire, "join", millrace.TRUE)
            self.assertEqual(self.worker._runs, {})

    def test_a_join_that_has_ended_reads_its_jobs_page_by_page_also_after_a_break(self):
        first = self.attach()
        first.deliver(grants=[grant(1, run=2, joined=[millrace.Joined("other", 1, 2), millrace.Joined("pages", 3, 2)])])
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
        self.answer(second, "parents", millrace.REFUSAL, "BUSY", "later")
        self.again.pop()()
        self.answer(second, "parents", millrace.VALUE, page(0, 3))
        self.assertEqual(self.until_said(second, "parents", 3)[-1], ("parents", 1, 2, 3, 4))
        self.answer(second, "parents", millrace.VALUE, page(1, None))
        asked.join(20)
        ((zero, one),) = read
        self.assertEqual((zero.ref, zero.state, zero.output, zero.error, one.output), ("pages/0", "completed", {"n": 0}, None, {"n": 1}))
        self.ways.put(lambda: None)

    def until_said(self, wire, op, count=1):
        """Returns what another thread says."""
        with wire.changed:
            self.assertTrue(wire.changed.wait_for(lambda: len(self.said(wire, op)) >= count, 20))
        return self.said(wire, op)

    def test_what_is_no_join_is_refused_where_it_is_made(self):
        wire = self.attach()
        (job,) = self.begin(wire, 1)
        self.assertEqual(list(job.join("none", [])), [])
        for option, name, jobs in (
            ("join", "a b", []),
            ("join", "n", "jobs"),
            ("join", "n", [["no", "job"], 7]),
            ("join", "n", [millrace.new_job("a")] * 10_001),
            ("unique", "n", [millrace.new_job("a", unique="k")]),
            ("idempotency_key", "n", [millrace.new_job("a", idempotency_key="k")]),
            ("join", "n", [millrace.new_job("a", b"x" * 2**20) for _ in range(18)]),
        ):
            with self.subTest(name=name), self.assertRaises(millrace.Error) as caught:
                job.join(name, jobs)
            self.assertEqual(caught.exception.details["option"], option)
        job._grant = job._grant._replace(joined=[millrace.Joined("j%d" % n, n + 1, 1) for n in range(100)])
        with self.assertRaises(millrace.Error):
            job.join("n", [millrace.new_job("a")])
        self.ways.put(lambda: None)

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
        wire.deliver(notices=[[millrace.LOST, "s", 1, 1]])
        asked.join(20)
        ask()
        self.assertEqual(errors, ["STALE_RUN", "STALE_RUN"])
        self.ways.put(lambda: None)

    def test_an_engine_that_does_not_know_the_strict_order_gets_its_jobs_back(self):
        self.worker = millrace.Worker("unix:none", {"a": self.handle}, queues=["x", "y"], order="strict")
        wire = Wire()
        self.worker._attach_to(wire)
        id = next(id for id, said, *_ in wire.said if said == "attach")
        wire.deliver([id, millrace.ATTACHED, None], grants=[grant(1)])
        self.assertEqual(self.said(wire, "giveBack"), [("giveBack", 1, 1)])
        self.assertEqual(self.worker._refused.code, "UNSUPPORTED")
        self.assertTrue(self.worker._stopping)

    def test_a_cancel_says_why_and_by_whom_if_the_server_does(self):
        wire = self.attach()
        one, two = self.begin(wire, 1), self.begin(wire, 2)
        cancel = millrace.ABORT_CAUSES.index("cancel")
        wire.deliver(notices=[[millrace.ABORT, "s", 1, 1, cancel, "wrong file", "ada"], [millrace.ABORT, "s", 2, 1, cancel]])
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
        self.assertEqual(millrace.RETRYABLE, {code for code, again in rows if again})
        self.assertLessEqual(millrace.OVER | millrace.HOPELESS, {code for code, again in rows if not again})


class Operations(unittest.TestCase):
    def test_they_are_those_of_the_protocol(self):
        table = PROTOCOL.split("<!-- table: operations -->")[1].split("<!-- end -->")[0]
        rows = re.findall(r"^\| (\d+) \| `(\w+)`", table, re.M)
        self.assertGreater(len(rows), 50)
        self.assertEqual(millrace.OPS, {name: int(code) for code, name in rows})

    def test_one_that_there_is_none_of_is_refused_and_waits_for_nothing(self):
        client = millrace.Client("unix:none")
        client._connection = Wire()
        with self.assertRaises(millrace.Error) as caught:
            client.call("historyy", "default")
        self.assertEqual((caught.exception.code, caught.exception.details), ("OPTION_TYPE", {"option": "op"}))
        self.assertEqual((client._waiting, client._connection.said), ({}, []))

    def test_a_worker_says_every_default(self):
        table = PROTOCOL.split("<!-- table: Defaults -->")[1].split("<!-- end -->")[0]
        options = dict(queue="q", priority=1, weight=2, max_attempts=3, timeout=4, heartbeat_timeout=5, max_age=7, tokens=10, max_lost=9, ttl=8, keep="forever", log_lines=11)
        options["backoff"] = {"type": "fixed", "delay": 6}
        options["weak"] = True
        options["ttl"] = 8
        worker = millrace.Worker("unix:none", {"a": print}, defaults={"a": options})
        (name, said), *_ = worker._served
        self.assertEqual((name, said), ("a", ["q", 1, 2, 3, 4000, 5000, [2, 6000], 7000, True, 8000, 10, 9, 3_153_600_000_000, 11]))
        self.assertEqual(len(said), len(re.findall(r"^\| \d+ \|", table, re.M)))


class Ids(unittest.TestCase):
    def test_an_id_is_a_uuid_of_the_three_parts(self):
        key = millrace.JobKey(2**47 + 12_345, 2**26 - 1, 1_795_000_000_000)
        self.assertEqual(str(key), "01a1ee56-5e00-7800-8000-00c0e7ffffff")
        self.assertEqual(millrace.JobKey.parse(str(key)), key)


class Texts(unittest.TestCase):
    def test_halves_of_pairs_survive_and_whole_pairs_are_characters(self):
        for text in ("\ud800", "a\udc00\ud800b", "\U0001f600"):
            self.assertEqual(millrace.unpack(millrace.pack(text)), text)
        self.assertEqual(millrace.pack("\ud83d\ude00"), millrace.pack("\U0001f600"))


if __name__ == "__main__":
    unittest.main()
