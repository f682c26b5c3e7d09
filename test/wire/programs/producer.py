"""A producer of another language: `producer.py URL`. Puts jobs in for a worker called `echo`, and says what became of them as JSON."""

import dataclasses
import itertools
import re
import sys

from program import millrace, refusal, say


def unknown(view, raw):
    """What a server says that the view has no field for, but for what has another name there."""
    fields = {field.name for field in dataclasses.fields(view)} | {"seq", "node", "enqueued_at"}
    renamed = {"fire_at", "times", "last_at", "fired", "last", "result"} if view is millrace.ScheduleInfo else set()
    return sorted({in_python(name) for name in raw} - fields - renamed)


def in_python(name):
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), re.sub("Ms(?=[A-Z]|$)", "", name))


with millrace.connect(sys.argv[1]) as client:
    values = [None, "", "a\0b", "\ud800", {"a": [1, 2.5, None]}, "x" * (2**20 - 2)]
    jobs = client.enqueue_many([millrace.new_job("echo", value) for value in values])
    say(same=[client.result(job, timeout=60) == value for job, value in zip(jobs, values)])
    say(bytes=client.result(client.enqueue("echo", bytes(range(256))), timeout=60) == bytes(range(256)))
    once = client.enqueue("echo", 1, idempotency_key="k", queue="other", tags=["a"], meta={"by": "python"})
    say(id=str(once), again=str(client.enqueue("echo", 2, idempotency_key="k")), result=client.result(once, timeout=60))
    waiting = client.enqueue("nobody", {"n": 1}, delay=3600, priority=-3, unique="u", timeout=float("inf"), backoff={"type": "fixed", "delay": 1})
    say(conflict=refusal(client.enqueue, "nobody", unique=("u", "error")), number=refusal(client.enqueue, "nobody", {"id": 1234567890123456789}))
    view = client.get(waiting)
    due = (view.run_at - view.enqueued_at).total_seconds()
    say(state=view.state, data=view.data, priority=view.priority, timeout=view.timeout, backoff=view.backoff, due=due, started=view.started_at)
    say(cancelled=client.cancel(waiting), result=refusal(client.result, waiting, timeout=60), twice=refusal(client.cancel, waiting))
    say(failed=refusal(client.result, client.enqueue("fails", max_attempts=1), timeout=60))
    say(none=client.get(millrace.JobKey(2**40, 1, 1)), stats=client.stats().states["completed"] >= 8)
    client.call("upsertSchedule", "s", [None, None, 60_000], ["nobody"])
    enqueued = sum(minute["enqueued"] for minute in client.call("history", "default", 0))
    say(taken=refusal(client.call, "upsertSchedule", "s", [None, None, 60_000], ["nobody"], False, None, True))
    say(schedule=client.call("getSchedule", "s")["spec"], enqueued=enqueued >= 8, paused=client.call("pauseAll", True))
    names = ["list-%d" % number for number in range(5)]
    client.enqueue_many([millrace.new_job("nobody", queue=name, tags=["listed"]) for name in names])
    nodes = [["one", millrace.new_job("nobody")], ["two", millrace.new_job("nobody"), [0]]]
    flows = [client.call("flow", nodes) for _ in range(3)]
    flows = [str(millrace.JobKey(flow["seq"], flow["node"], flow["enqueuedAt"])) for flow in flows]
    listed = [queue.name for queue in client.queues(page=2)]
    say(
        sorted=listed == sorted(listed),
        queues=[name for name in listed if name in names] == names,
        jobs=[job.queue for job in client.jobs(tag="listed", page=2)] == names[::-1],
        flows=[flow.id for flow in client.flows(state="running", page=2)] == flows[::-1],
        schedules=[schedule.id for schedule in client.schedules(page=1)],
        workers=sorted(worker.id for worker in client.workers(page=1)),
    )
    asked = {
        "get": (millrace.JobInfo, client.call("get", millrace.operations.job_key(once))),
        "queue": (millrace.QueueInfo, client.call("queues", "other")[0]),
        "worker": (millrace.WorkerInfo, client.call("workers")[0]),
        "schedule": (millrace.ScheduleInfo, client.call("getSchedule", "s")),
        "flow": (millrace.FlowInfo, client.call("listFlows", 1)["flows"][0]),
        "stats": (millrace.Stats, client.call("stats")),
    }
    say(unknown={name: unknown(view, raw) for name, (view, raw) in asked.items()})
    events = client.events(types=["enqueued", "completed"], job=once)
    first, second = next(events), next(events)
    said = [[event.type, event.job == str(once), event.queue, event.attempt, str(event.at.tzinfo)] for event in (first, second)]
    say(events=said, rest=[event.type for event in itertools.islice(client.events(first.seq, job=once), 2)])
    try:
        client.result(client.enqueue("nobody"), timeout=0.01)
    except TimeoutError:
        say(late=True)
