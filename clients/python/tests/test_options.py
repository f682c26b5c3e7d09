"""Options: what no server takes is refused where it is made."""

import inspect
import json
import math
import os
import tempfile
import unittest
import unittest.mock

import millrace
from millrace import address

from .support import ROOT


def field_of(data, path):
    for name in path.split("."):
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data


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

    def test_what_has_no_form_in_a_message_is_refused_where_it_is_made(self):
        """The server checks the bounds: test/wire/programs/refusals.py has the table of those."""
        refused = {
            "name": [{"name": ["a"]}],
            "priority": [{"priority": math.nan}, {"priority": 10**30}, {"priority": [1]}],
            "delay": [{"delay": "1"}, {"delay": math.nan}, {"delay": True}],
            "run_at": [{"run_at": "now"}],
            "unique": [{"unique": ("k", "skipp")}, {"unique": ("k", "skip", "run")}, {"unique": 7}],
            "backoff": [{"backoff": 5}, {"backoff": {"typ": "fixed"}}],
            "backoff.type": [{"backoff": {"type": "none", "delay": 1}}],
            "backoff.jitter": [{"backoff": {"type": "linear", "delay": 1, "jitter": -1}}, {"backoff": {"type": "linear", "jitter": "some"}}],
            "tags": [{"tags": "one"}, {"tags": [["a"]]}],
            "data": [{"data": object()}],
            "meta": [{"meta": {"a": math.nan}}],
            "debounce.mode": [{"debounce": {"key": "k", "delay": 1, "mode": "both"}}],
        }
        for option, cases in refused.items():
            for case in cases:
                with self.subTest(case), self.assertRaises(millrace.Error) as caught:
                    millrace.new_job(**{"name": "a", **case})
                self.assertIn(caught.exception.code, ("OPTION_TYPE", "OPTION_RANGE"))
                self.assertEqual(caught.exception.details["option"], option)

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

    def test_data_has_its_letters_as_they_are_and_halves_of_pairs_escaped(self):
        self.assertEqual(millrace.new_job("a", {"text": "gr\u00fc\u00dfe \U0001f600 \ud800"})[1], '{"text":"gr\u00fc\u00dfe \U0001f600 \\ud800"}')

    def test_the_options_have_the_types_that_new_job_says(self):
        parameters = inspect.signature(millrace.new_job).parameters.values()
        options = {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY}
        types = {name: reference.__forward_arg__ for name, reference in millrace.JobOptions.__annotations__.items()}
        self.assertEqual(types, options)

    def test_the_token_is_the_given_one_or_the_environments_or_that_beside_a_daemons_socket(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, clear=False) as environment:
            environment.pop("MILLRACE_TOKEN", None)
            file = os.path.join(folder, "jobs.db")
            own = "unix:%s-socket" % file
            self.assertIsNone(address.token_of(own, None))
            with open(file + "-token", "w") as token, open(file + "-socket", "w"):
                token.write("kept beside the file\n")
            self.assertEqual(address.token_of(own, None), "kept beside the file")
            self.assertEqual(address.token_of(own, "given"), "given")
            for other in ("unix:%s.sock" % file, "tcp://127.0.0.1:7411"):
                self.assertIsNone(address.token_of(other, None))
            environment["MILLRACE_TOKEN"] = "of the environment"
            self.assertEqual(address.token_of(own, None), "of the environment")

    def test_the_token_beside_the_file_is_sent_to_no_other_user(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"MILLRACE_TOKEN": ""}):
            own = "unix:%s/millrace.db-socket" % folder
            with open("%s/millrace.db-token" % folder, "w", encoding="ascii") as file:
                file.write("kept beside the file")
            for owner, user in ((7, 7), (0, 7), (0, 0), (7, 8), (7, 0)):
                stats = os.stat_result((0o140600, 1, 1, 1, owner, 0, 0, 0, 0, 0))
                with unittest.mock.patch("os.lstat", return_value=stats), unittest.mock.patch("os.getuid", return_value=user), self.subTest(owner=owner, user=user):
                    if owner in (0, user):
                        self.assertEqual(address.token_of(own, None), "kept beside the file")
                        continue
                    with self.assertRaisesRegex(millrace.Error, r"token must be given, or be in MILLRACE_TOKEN: .*another user \(7\)") as caught:
                        address.token_of(own, None)
                    self.assertEqual(caught.exception.details, {"option": "token"})
                    self.assertEqual(address.token_of(own, "given"), "given")

    def test_the_address_is_the_given_one_or_that_of_the_environment_or_of_a_file(self):
        with unittest.mock.patch.dict(os.environ, clear=False) as environment:
            for name in ("MILLRACE_URL", "MILLRACE_FILE", "MILLRACE_POSTGRES"):
                environment.pop(name, None)
            self.assertEqual(address.url_of(None), "unix:%s-socket" % os.path.abspath("millrace.db"))
            environment["MILLRACE_FILE"] = "/data/jobs.db"
            self.assertEqual(address.url_of(None), "unix:/data/jobs.db-socket")
            environment["MILLRACE_URL"] = "tcp://[::1]:7411"
            self.assertEqual(address.url_of(None), "tcp://[::1]:7411")
            self.assertEqual(address.address_of(address.url_of(None)), ("::1", 7411))
            self.assertEqual(address.url_of("unix:/given"), "unix:/given")
            self.assertEqual(millrace.Client()._calls.url, "tcp://[::1]:7411")
            self.assertEqual(millrace.Worker(None, {"a": print})._url, "tcp://[::1]:7411")
            environment.update(MILLRACE_URL="", MILLRACE_FILE=":memory:")
            wrong = [(None, "MILLRACE_FILE"), ("http://h:1", "HTTP API"), ("tls://h:1", "tunnel"), ("tcp://h", "tcp://host:port"), (7, "string")]
            for url, hint in wrong:
                with self.subTest(url), self.assertRaisesRegex(millrace.Error, hint) as caught:
                    millrace.Client(url)
                self.assertEqual(caught.exception.details, {"option": "url"})
            environment["MILLRACE_POSTGRES"] = "postgres://db"
            with self.assertRaisesRegex(millrace.Error, "MILLRACE_POSTGRES"):
                millrace.AsyncClient()

    def test_a_worker_of_options_that_mean_nothing_is_refused(self):
        for options in ({"concurrency": "4"}, {"min_concurrency": 5}, {"abort_grace": -1}, {"queues": "a"}, {"order": "strict"}, {"order": "other", "queues": ["a"]}):
            with self.subTest(options), self.assertRaises(millrace.Error):
                millrace.Worker("unix:none", {"a": print}, **options)
        for handlers in (None, {}, [print], {"a": None}, {None: print}):
            with self.subTest(handlers), self.assertRaises(millrace.Error) as caught:
                millrace.AsyncWorker("unix:none", handlers)
            self.assertEqual(caught.exception.details["option"], "handlers")
        with self.assertRaisesRegex(millrace.Error, "did you mean 'a'"):
            millrace.Worker("unix:none", {"a": print}, defaults={"aa": {}})
