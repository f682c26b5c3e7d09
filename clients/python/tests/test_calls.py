"""What methods send of the fields that they are given: those of `_calls.py`, by their names and kinds."""

import unittest

import millrace
from millrace import _calls, _schema, codec, encoding, messages

JOB = millrace.JobKey(1, 2, 3)


class Stop(Exception):
    pass


def sent(call):
    """The fields of the first request, as a server reads them."""
    client, said = millrace.Client("unix:none"), []

    def ask(op, *fields):
        said.append([op, *codec.unpack(codec.pack(messages.request(1, op, *fields)))[2:]])
        raise Stop()

    client.call = ask
    try:
        call(client)
    except Stop:
        return said[0]


def kinds(fields):
    for _place, kind in fields.values():
        yield from kinds(kind) if isinstance(kind, dict) else [kind]


class Calls(unittest.TestCase):
    def test_each_field_is_of_a_kind_that_can_be_made(self):
        tables = [*_calls.CALLS.values(), _calls.EVENT_FILTER, _schema.NEW_JOB, _schema.DEFAULTS, _schema.CHANGES, _schema.FILTER, _schema.SCHEDULE, _schema.SETTINGS]
        for kind in (kind for fields in tables for kind in kinds(fields)):
            self.assertTrue(isinstance(kind, (tuple, list)) or kind in encoding.ENCODERS, kind)
        self.assertLessEqual(set(_calls.CALLS), set(_schema.OPS))

    def test_a_word_that_stands_for_none_is_left_out(self):
        self.assertEqual(sent(lambda client: client.stats()), ["stats"])
        self.assertEqual(sent(lambda client: client.stats(definitions="disputed")), ["stats", None, 1])
        self.assertEqual(sent(lambda client: client.failures(order="last")), ["failures", None, None, 50])
        with self.assertRaises(millrace.Error):
            sent(lambda client: client.stats(names=None))

    def test_what_is_not_asked_for_is_not_sent(self):
        job = millrace.new_job("a")
        schedule = ["upsertSchedule", "s", [None, None, 60_000], ["a"]]
        self.assertEqual(sent(lambda client: client.upsert_schedule("s", job, every=60)), schedule)
        self.assertEqual(sent(lambda client: client.upsert_schedule("s", job, every=60, paused=False)), [*schedule, None, False])
        self.assertEqual(sent(lambda client: client.upsert_schedule("s", job, every=60, update_waiting=True)), [*schedule, *[None] * 4, True])
        self.assertEqual(sent(lambda client: client.get(JOB)), ["get", [1, 2, 3]])
        self.assertEqual(sent(lambda client: client.get(JOB, payload="none")), ["get", [1, 2, 3], 0])

    def test_data_may_be_set_to_nothing(self):
        self.assertEqual(sent(lambda client: client.update(JOB, data=None)), ["update", [1, 2, 3], [[None]]])
        self.assertEqual(sent(lambda client: client.update(JOB, checkpoint=None, tags=[])), ["update", [1, 2, 3], [*[None] * 4, [None], []]])

    def test_no_job_is_a_mistake_of_the_call(self):
        for call in (lambda client: client.get(None), lambda client: client.cancel(None), lambda client: client.release_key(None)):
            with self.assertRaisesRegex(millrace.Error, "job must be a"):
                sent(call)

    def test_the_names_of_tiers_stay_as_they_are(self):
        tiers = {"max_age": {"per_key_limit": 2, "per_key_rate_limit": {"limit": 1, "period": 60}}}
        changes = {"keyTiers": {"max_age": {"perKeyLimit": 2, "perKeyRateLimit": {"limit": 1, "period": 60_000}}}}
        self.assertEqual(sent(lambda client: client.configure_queue("q", key_tiers=tiers)), ["configure", "q", changes])

    def test_a_page_behind_a_mark_keeps_the_other_fields(self):
        first = encoding.trimmed(encoding.encoded(_calls.CALLS["listSchedules"], {"prefix": "a", "page": 5, "name": "n"}))
        self.assertEqual(first, ["a", 5, None, None, "n"])
        second = millrace.requests.asked("listSchedules", list, prefix="a", page=5, name="n").behind("m")
        self.assertEqual(second.fields, ("a", 5, "m", None, "n"))
        self.assertEqual(millrace.requests.asked("exports", list).fields, ())
