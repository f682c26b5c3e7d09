"""The client beside the conformance vectors and docs/protocol.md."""

import json
import math
import re
import unittest
import unittest.mock

import millrace
from millrace import _schema, codec, data, messages, runs, session

from .support import PROTOCOL, Wire, vectors


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
        "replies": [reply_told(*messages.read_reply(reply)) for reply in delivery.replies],
        "grants": [grant_told(grant) for grant in delivery.grants],
        "notices": [notice_told(*notice) for notice in delivery.notices],
    }


def grant_told(grant):
    return named(grant if grant.joined is None else grant._replace(joined=[named(each) for each in grant.joined]))


def reply_told(id, value, error):
    if error is not None:
        refusal = {"code": error.code, "message": error.message}
        return {"id": id, "refusal": {**refusal, "details": error.details} if error.details else refusal}
    if isinstance(value, messages.Attached):
        told = {"lost": [{"seq": seq, "run": run} for seq, run in value.lost]}
        if value.disputed:
            told["disputed"] = value.disputed
        return {"id": id, "value": told}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {"id": id, "value": [{**named(key), "created": created} for key, created in value]}
    return {"id": id, "value": value}


def notice_told(kind, *fields):
    if kind == _schema.REATTACH:
        return {"kind": "reattach"}
    if kind == _schema.GAP:
        return {"kind": "gap", "first": fields[0], "last": fields[1]}
    if kind == _schema.STOP:
        return {"kind": "stop", "session": fields[0], "timeout": fields[1]}
    run = {"session": fields[0], "seq": fields[1], "run": fields[2]}
    if kind in (_schema.LOST, _schema.MESSAGED):
        return {"kind": "lost" if kind == _schema.LOST else "messaged", **run}
    said = {name: value for name, value in zip(("reason", "by"), fields[4:]) if value is not None}
    return {"kind": "abort", **run, "cause": _schema.ABORT_CAUSES[fields[3]], **said}


def job_of(job):
    """The vector's job through the options that people use, which are in seconds."""
    options = {}
    for name, value in job.items():
        name = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
        if name in ("delay", "run_at", "timeout", "heartbeat_timeout", "ttl", "idempotency_ttl", "max_age", "keep"):
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


class Vectors(unittest.TestCase):
    def test_every_payload_is_read_and_written_again_as_the_same_bytes(self):
        count = 0
        for vector in vectors():
            with self.subTest(vector["name"]):
                payload = payload_of(vector)
                again = codec.pack(codec.unpack(payload))
                if vector.get("canonical", True):
                    self.assertEqual(again.hex(), payload.hex())
                else:
                    self.assertLessEqual(len(again), len(payload))
                count += 1
        self.assertGreater(count, 100)

    def test_what_a_server_says_means_what_the_vectors_say(self):
        types = {_schema.WELCOME: "welcome", _schema.DELIVERY: "delivery", _schema.PING: "ping", _schema.PONG: "pong"}
        for vector in vectors():
            if vector["from"] != "server":
                continue
            with self.subTest(vector["name"]):
                message = vector["message"]
                state = "greeting" if message["type"] == "welcome" else "open"
                type, fields = messages.read_message(payload_of(vector), state)
                self.assertEqual(types.get(type, "goodbye"), message["type"])
                if type == _schema.DELIVERY:
                    expected = {name: part for name, part in message["delivery"].items() if name != "events"}
                    # Values have no nil left out, and those of properties may be nil: both sides lose them.
                    self.assertEqual(without_nil(told(fields)), without_nil(expected))
                elif type == _schema.WELCOME:
                    scopes = ["enqueue work read admin".split()[scope] for scope in fields.scopes]
                    expected = {"type": "welcome", **named(fields), "scopes": scopes, "limits": named(fields.limits)}
                    self.assertEqual(expected, message)
                elif type == _schema.GOODBYE:
                    self.assertEqual(fields, [message["code"], message["message"], message["retryAfterMs"]])
                else:
                    self.assertEqual(fields, [message["nonce"]])

    def test_what_a_server_may_not_say_is_refused_with_the_code(self):
        for vector in vectors(error=True):
            whole = bytes.fromhex(vector["hex"])
            if vector["from"] != "server" or len(whole) < 5:
                continue
            with self.subTest(vector["name"]), self.assertRaises(millrace.ProtocolError) as caught:
                messages.read_message(whole[4:], "open")
            self.assertEqual(caught.exception.code, vector["error"])

    def test_a_reply_that_cannot_be_read_fails_its_call_alone(self):
        replies = [[1, _schema.TRUE], [2, 99, "of a newer server"], [3, _schema.ENQUEUED, 7], [4, _schema.VALUE, "x"]]
        read = list(messages.read_replies(replies))
        self.assertEqual([(id, value) for id, value, _ in read], [(1, True), (2, None), (3, None), (4, "x")])
        self.assertEqual([error and error.code for _, _, error in read], [None, "PROTOCOL", "PROTOCOL", None])
        for broken in ([], ["x", 99], 7):
            with self.assertRaises(millrace.ProtocolError):
                list(messages.read_replies([broken]))

    def test_jobs_are_written_byte_by_byte_as_the_vectors_have_them(self):
        count = 0
        for vector in vectors():
            message = vector["message"]
            if message["type"] != "requests" or any(each["command"]["op"] != "enqueue" for each in message["requests"]):
                continue
            with self.subTest(vector["name"]):
                requests = []
                for each in message["requests"]:
                    requests.append(messages.request(each["id"], "enqueue", [job_of(job) for job in each["command"]["jobs"]]))
                self.assertEqual(messages.frame(_schema.REQUESTS, requests).hex(), vector["hex"])
                count += 1
        self.assertGreater(count, 5)

    def test_what_a_worker_says_is_written_byte_by_byte(self):
        by_name = {vector["name"]: vector["hex"] for vector in vectors()}
        session = "0c9d2a3e-7f41-4c55-9b1e-64a1f7e2d008"
        said = {
            "drain": ("drain", session),
            "leave": ("leave", session),
            "complete: no output": ("complete", 42, 1, None),
            "complete: output": ("complete", 42, 1, data.encode_data("A.PNG")),
            "complete: and more jobs in the same commit": ("complete", 42, 1, None, [millrace.new_job("b", 2)]),
            "fail: for good": ("fail", 42, 1, ["Error", "x"], False),
            "fail: cancelled by its handler": ("fail", 42, 1, ["CancelJobError", "no longer wanted"], False, True),
            "cancel: why, and by whom": ("cancel", [42, 12345678, 1_795_000_000_000], "wrong file", "ada"),
            "snooze": ("snooze", 42, 1, 60_000),
            "giveBack": ("giveBack", 42, 1),
            "heartbeat": ("heartbeat", 42, 1),
            "checkpoint": ("checkpoint", 42, 1, data.encode_data({"page": 3})),
            "join": ("join", 42, 1, "pages", [millrace.new_job("page", {"url": url}) for url in "ab"]),
            "parents: of one join": ("parents", 42, 2, 0, 2),
            "progress": ("progress", 42, 1, 0.5, None),
            "progress: with a value": ("progress", 42, 1, 0.5, None, data.encode_data({"rows": 7})),
            "watch": ("watch", [42, 12345678, 1_795_000_000_000]),
            "unwatch": ("unwatch", 17),
            "stats": ("stats",),
            "stats: percentiles alone, and definitions that are disputed": ("stats", 1, 1),
        }
        for name, (op, *fields) in said.items():
            with self.subTest(name):
                self.assertEqual(messages.frame(_schema.REQUESTS, [messages.request(1, op, *fields)]).hex(), by_name[name])
        defaults = {"resize": {"queue": "images", "timeout": 60, "backoff": {"type": "fixed", "delay": 5}}}
        options = {"queues": ["images", "mail"], "order": "strict", "min_concurrency": 8, "concurrency": 16, "name": "worker-1"}
        worker = millrace.Worker("unix:none", {"thumbnail": print, "resize": print}, defaults=defaults, **options)
        worker.uuid = session
        with unittest.mock.patch("socket.gethostname", return_value="alpha"), unittest.mock.patch("os.getpid", return_value=4711):
            attach = messages.request(1, "attach", worker._session())
        name = "attach: its queues in a strict order"
        self.assertEqual(messages.frame(_schema.REQUESTS, [attach]).hex(), by_name[name])
        name = "attach: the defaults of a name, each of them"
        backoff = {"type": "fixed", "delay": 6}
        times = dict(timeout=4, heartbeat_timeout=5, max_age=7, ttl=8, keep="forever", backoff=backoff)
        counts = dict(queue="images", priority=1, weight=2, max_attempts=3, weak=True, tokens=10, max_lost=9, log_lines=11)
        worker = millrace.Worker("unix:none", {"resize": print}, defaults={"resize": {**times, **counts}}, name="worker-1", concurrency=16)
        worker.uuid = session
        with unittest.mock.patch("socket.gethostname", return_value="alpha"), unittest.mock.patch("os.getpid", return_value=4711):
            attach = messages.request(1, "attach", worker._session())
        self.assertEqual(messages.frame(_schema.REQUESTS, [attach]).hex(), by_name[name])
        hello = messages.frame(_schema.HELLO, [1, 1], None, ["example 1.0", "alpha", 4711, ""])
        self.assertEqual(hello.hex(), by_name["hello without a token"])

    def test_what_manages_jobs_and_queues_is_written_byte_by_byte(self):
        """By the methods that people use, which convert names, times and words."""
        by_name = {vector["name"]: vector["hex"] for vector in vectors()}
        client = millrace.Client("unix:none")
        at, job = 1_795_000_000, millrace.JobKey(42, 12345678, 1_795_000_000_000)
        # For each vector the call, and the answers to the requests before it.
        nothing = {"matched": 0, "changed": 0, "skipped": {}, "next": None}
        calls = {
            "explain: a job that runs": (lambda: client.explain(job), []),
            "explain: a job of a producer\u2019s journal, held by several things": (
                lambda: client.explain(millrace.JobKey(43, 2**26 * 7 + 5, 1_795_000_000_000)), [],
            ),
            "get: a job with tokens, lost workers, and a time to be kept": (lambda: client.get(job), []),
            "configure: every setting": (lambda: client.configure_queue("media", **EVERY_SETTING), []),
            "configure: a limit taken away": (lambda: client.configure_queue("media", concurrency_limit=None), []),
            "pause: a queue for ten minutes": (lambda: client.pause_queue("media", duration=600), []),
            "cancelMany: why and by whom, of one state": (
                lambda: client.cancel_many({"state": ["waiting"], "queue": "media"}, "wrong file", "ada"), [],
            ),
            "retryMany: every filter, and a search": (
                lambda: client.retry_many({**every_filter(at), "search": "a.png"}, limit=10, dry_run=True),
                [{**nothing, "next": 99}],
            ),
            "updateMany: tags taken away, and meta": (
                lambda: client.update_many({"tag": "customer:7"}, tags=[], meta={"moved": True}), [],
            ),
            "list: scheduled jobs, the soonest first, the next page": (
                lambda: list(client.jobs(state="scheduled", order="due")), [{"jobs": [], "next": 7, "nextAt": at * 1000}],
            ),
            "history of all queues, and of the two busiest": (lambda: client.queues_history(2, start_at=at), []),
            "failures: most runs first": (lambda: client.failures(limit=1, order="count"), []),
            "failures: with their trend": (lambda: client.failures(limit=1, trend=True), []),
            "queueKeys": (lambda: client.queue_keys("mail"), []),
            "byKey: release": (lambda: client.release_key(millrace.JobOfKey("rebuild", unique_key="index")), []),
        }
        for name, (call, answers) in calls.items():
            with self.subTest(name):
                self.assertEqual(last_frame(client, call, answers).hex(), by_name[name])


class Stop(Exception):
    pass


def last_frame(client, call, answers):
    """What is sent behind the answers to what was sent before."""
    told = iter(answers)
    sent = []

    def answer(op, *fields):
        sent[:] = [messages.frame(_schema.REQUESTS, [messages.request(1, op, *fields)])]
        for each in told:
            return each
        raise Stop()

    with unittest.mock.patch.object(client, "call", answer), unittest.TestCase().assertRaises(Stop):
        call()
    return sent[0]


EVERY_SETTING = {
    "concurrency_limit": 8,
    "shared_limit": {"name": "gpu", "limit": 4},
    "per_key_limit": 1,
    "key_order": "strict",
    "rate_limit": {"limit": 100, "period": 60, "burst": 20},
    "per_key_rate_limit": {"limit": 1, "period": 1, "burst": 2},
    "key_tiers": {"gold": {"per_key_limit": 1, "per_key_rate_limit": {"limit": 10, "period": 1, "burst": 10}}, "free/eu": {"per_key_limit": 1}},
    "max_length": 1_000,
    "on_full": "drop-oldest",
    "share": 3,
    "fairness": "name",
    "dead_letter": "media.dead",
    "repeats": "event",
    "defaults": {
        "priority": 5, "weight": 2, "tokens": 3, "max_attempts": 7, "max_lost": 1, "max_age": 86_400,
        "backoff": {"type": "exponential", "delay": 1, "factor": 3, "max_delay": 60, "jitter": "full"}, "timeout": math.inf,
        "heartbeat_timeout": 0, "ttl": 5, "keep": 0, "log_lines": 10,
    },
    "retention": {"completed": {"age": 3600, "count": 1_000}, "failed": {"age": "forever", "count": 10**12}},
}


def every_filter(at):
    by_time = dict(enqueued_after=at, enqueued_before=at + 0.001, finished_after=at + 0.002, finished_before=at + 0.003)
    by_run = dict(worker="worker-1", error="TypeError", fingerprint="1f00c0ffee1234")
    by_content = dict(data={"customer": 7}, meta={"by": "gr\u00fc\u00dfe"})
    named = dict(queue="media", name="resize", tag="customer:7", key="customer-7", schedule="nightly", retrying=False)
    return {"state": {"failed", "cancelled"}, **named, **by_time, **by_run, **by_content}


class Frames(unittest.TestCase):
    def test_many_requests_go_in_as_many_frames_as_the_server_takes(self):
        requests = [messages.request(id, "complete", id, 1, "x" * 100) for id in range(1, 20)]
        self.assertEqual(messages.request_frames(requests, 2**20), [messages.frame(_schema.REQUESTS, requests)])
        frames = messages.request_frames(requests, 300)
        self.assertEqual([request for each in frames for request in codec.unpack(each[4:])[1]], requests)
        for each in frames:
            self.assertEqual(int.from_bytes(each[:4], "big"), len(each) - 4)
            self.assertLessEqual(len(each) - 4, 300)
        self.assertLess(len(frames), 19)
        many = messages.request_frames([[id, _schema.OPS["stats"]] for id in range(10_001)], 2**20)
        self.assertEqual([len(codec.unpack(each[4:])[1]) for each in many], [10_000, 1])

    def test_one_request_of_more_than_a_frame_is_refused(self):
        with self.assertRaises(millrace.Error) as caught:
            messages.request_frames([messages.request(1, "complete", 1, 1, "x" * 300)], 300)
        self.assertEqual((caught.exception.code, caught.exception.details), ("TOO_LARGE", {"limit": 300}))


class Operations(unittest.TestCase):
    def test_they_are_those_of_the_protocol(self):
        table = PROTOCOL.split("<!-- table: operations -->")[1].split("<!-- end -->")[0]
        rows = re.findall(r"^\| (\d+) \| `(\w+)`", table, re.M)
        self.assertGreater(len(rows), 50)
        self.assertEqual(_schema.OPS, {name: int(code) for code, name in rows})

    def test_one_that_there_is_none_of_is_refused_and_waits_for_nothing(self):
        client = millrace.Client("unix:none")
        client._calls._connection = Wire()
        with self.assertRaises(millrace.Error) as caught:
            client.call("historyy", "default")
        self.assertEqual((caught.exception.code, caught.exception.details), ("OPTION_TYPE", {"option": "op"}))
        self.assertEqual((client._calls._waiting, client._calls._connection.said), ({}, []))

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
            self.assertEqual(codec.unpack(codec.pack(text)), text)
        self.assertEqual(codec.pack("\ud83d\ude00"), codec.pack("\U0001f600"))
