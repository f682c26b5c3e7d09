"""Clients and workers in processes that are forked: `forks.py URL` says as JSON what parent and child got."""

import asyncio
import json
import os
import signal
import sys
import threading

from program import millrace, refusal, say

# A child that hangs is ended.
PATIENCE = 60


def fork(act):
    """Returns a function that waits for what `act` returns in a child."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        try:
            said = act()
        except BaseException as error:
            said = repr(error)
        os.write(into, json.dumps(said).encode())
        os._exit(0)
    os.close(into)

    def answer():
        with open(out, encoding="utf-8") as file:
            text = file.read()
        os.waitpid(pid, 0)
        return json.loads(text) if text else "the child has ended without a word"

    return answer


def echo(client, whose, times=100):
    """What comes back of the jobs of one process. Some say after their number whose answer it was instead."""
    jobs = [client.enqueue("nobody", [whose, number]) for number in range(times)]
    return [client.get(job).data for job in jobs] == [[whose, number] for number in range(times)]


with millrace.connect(sys.argv[1]) as client:
    first = client._calls._connection
    child = fork(lambda: [echo(client, "child"), client._calls._connection is not first])
    say(both=[child(), echo(client, "parent")])

    child = fork(lambda: echo(client, "child"))
    meanwhile = echo(client, "parent")
    say(together=[child(), meanwhile])

    grandchild = fork(lambda: fork(lambda: echo(client, "grandchild"))())
    say(grandchild=grandchild())

    # As another thread of the parent holds them.
    with client._calls._lock, client._calls._opening, first.sending:
        child = fork(lambda: echo(client, "child", 1))
        say(locked=child())

    def close():
        with client:
            return first.sock.fileno()

    say(closed=[fork(close)(), echo(client, "parent", 1)])

    job = client.enqueue("nobody", delay=3600)
    client.cancel(job)
    events = client.events(job=job, types=["enqueued", "cancelled"])
    types = [next(events).type]
    child = fork(lambda: next(events).type)
    say(events=[types, child(), next(events).type])

    waiting = client.enqueue("waits")
    results = []
    thread = threading.Thread(target=lambda: results.append(client.result(waiting, timeout=PATIENCE)))
    thread.start()
    child = fork(lambda: echo(client, "child", 1))
    say(while_waiting=child())

    asynchronous = millrace.AsyncClient(sys.argv[1])

    async def ask(whose):
        job = await asynchronous.enqueue("nobody", whose)
        return (await asynchronous.get(job)).data

    asked = [asyncio.run(ask("parent"))]
    child = fork(lambda: asyncio.run(ask("child")))
    say(asynchronous=[*asked, child(), asyncio.run(ask("again"))])
    asyncio.run(asynchronous.close())

    def says(job):
        """In a child of its handler."""
        calls = [(job.progress, 0.5), (job.log, "info", "x"), (job.save, 1), (job.heartbeat,), (job.enqueue, "nobody")]
        return [refusal(*call) for call in calls] + [client.get(job.id).state]

    def handler(job):
        worker.stop()
        said = fork(lambda: says(job))()
        job.progress(1)
        return [said, os.getpid()]

    forks = client.enqueue("forks")
    waits = client.enqueue("forks")
    worker = millrace.Worker(sys.argv[1], {"forks": handler}, concurrency=1)

    def work():
        worker.run()
        return [worker.uuid, worker.name, os.getpid()]

    # A worker that was made before the fork is another one in each child.
    ran = [fork(work)(), fork(work)()]
    done = [client.result(job, timeout=PATIENCE) for job in (forks, waits)]
    say(
        handlers=[said for said, _ in done],
        ran_in=sorted(pid for _, pid in done) == sorted(pid for *_, pid in ran),
        sessions=len({worker.uuid, *(uuid for uuid, *_ in ran)}),
        names=len({worker.name, *(name for _, name, _ in ran)}),
    )

    last = millrace.Worker(sys.argv[1], {"waits": lambda job: last.stop() or "done"})
    last.run()
    thread.join()
    say(results=results, same=client._calls._connection is first and not first.ended.is_set())
