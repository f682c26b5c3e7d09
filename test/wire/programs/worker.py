"""A worker of another language: `worker.py URL NAME [TOKEN]`. What its handlers do is said line by line; SIGTERM stops it."""

import pathlib
import signal
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import millrace  # noqa: E402


def say(*words):
    # In one piece: handlers are threads.
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def upper(job):
    return {"text": job.data["text"].upper(), "by": name, "meta": job.meta, "tags": job.tags}


def reverse(job):
    return bytes(reversed(job.data))


def broken(job):
    raise ValueError("no such thing: ä")


def hopeless(job):
    raise millrace.Fail("never")


def third(job):
    if job.attempt < 3:
        raise millrace.Retry(0)
    return job.attempt


def later(job):
    if job.run == 1:
        raise millrace.Snooze(0.001)
    return [job.run, job.attempt]


def pages(job):
    if job.checkpoint is None:
        job.progress(0.5, "half", {"rows": 7})
        job.log("warn", "begun", page=1)
        job.save({"page": 1})
        job.heartbeat()
        raise millrace.Retry(0)
    return job.checkpoint


def much(job):
    what, length = job.data
    if what == "checkpoint":
        job.save("x" * length)
    return "x" * length


class Careless(millrace.Retry):
    def __init__(self):
        pass

    def __str__(self):
        raise ValueError("no words")


def wrong(job):
    """Says what no server takes, and whatever a log line is."""
    job.log("info", {"no": "string"}, thing=job, number=float("nan"))
    if job.data == "fraction":
        job.progress(1.000000001)
    elif job.data == "level":
        job.log("loud", "x")
    elif job.data == "snooze":
        raise millrace.Snooze(-0.5)
    elif job.data == "text":
        raise millrace.Snooze("5")
    elif job.data == "retry":
        raise millrace.Retry(-1)
    elif job.data == "careless":
        raise Careless()
    elif job.data == "careless snooze":
        snooze = millrace.Snooze(1)
        del snooze.delay_ms
        raise snooze
    job.progress(1, 5)
    return {job}


def huge(job):
    """More than a connection takes, or with others of its kind more than one frame, once the test says a word."""
    say("huge", job.id)
    told.wait()
    return "x" * job.data


def long(job):
    """Until it is told to stop."""
    say("long", job.run, job.id)
    job.aborted.wait()
    say("aborted", job.run, job.abort_cause)
    raise RuntimeError("told to stop")


def stuck(job):
    """Whatever it is told."""
    say("stuck", job.run)
    threading.Event().wait()


def asked(job):
    """Until the test says a word."""
    say("asked", job.run)
    return sys.stdin.readline().strip()


def crawl(job):
    """Joins a job for each page, once more those that failed, and swallows what it may."""
    say("crawl", job.run)
    try:
        pages = job.join("pages", lambda: [millrace.new_job("page", number, max_attempts=1) for number in range(job.data)])
        ends = [(page.ref, page.state, page.output, page.error and page.error["name"]) for page in pages]
        again = job.join("again", [millrace.new_job("page", -1) for end in ends if end[1] != "completed"])
        return {"ends": ends, "again": [page.output for page in again], "attempt": job.attempt, "none": list(job.join("none", []))}
    except Exception as error:
        return "swallowed %r" % error


def page(job):
    if job.data == 1:
        raise ValueError("no such page")
    return job.data


def spreads(job):
    job.enqueue("page", job.data, queue="spread", tags=["spread"])
    if job.attempt == 1:
        raise millrace.Retry(0)


def order(job):
    """Three steps and a sleep. Says which of them it calls; the last one fails in the run that the data names."""

    def step(name):
        def fn(step):
            say(name, job.run, step.attempt, step.key == "%s:%s" % (job.id, name))
            if name == "send" and job.run == job.data:
                raise ValueError("no way")
            return {"of": name}

        return job.step(name, fn)

    first = step("reserve")
    job.sleep("nap", 3600)
    return [first, step("charge"), step("send"), job.changed("new")]


def approves(job):
    """Waits for two messages, with a step in between."""
    decided = job.wait_for("decided")
    job.step("noted", lambda step: None)
    return [decided, job.wait_for("decided", as_="again", timeout=3600), job.run]


def misfits(job):
    """Asks for another step than the one that its first run has recorded."""
    job.step("of run %d" % job.run, lambda step: say("misfits", job.run))
    raise millrace.Retry(0)


def remembers(job):
    """A step until the test says a word, and a sleep that is over at once."""
    word = job.step("ask", lambda step: say("remembers", job.run) or sys.stdin.readline().strip())
    job.sleep("short", 0)
    return [word, job.run, job.attempt]


def inherits(job):
    return [parent.output for parent in job.parents()]


def queue(job):
    say("queue", job.queue)


told = threading.Event()
url, name, *token = sys.argv[1:]
concurrency, grace = (1, 0.05) if name in ("alone", "ordered") else (8, 5)
each_of = (upper, reverse, broken, hopeless, third, later, pages, much, wrong, huge, stuck, long, asked, crawl, page, inherits, spreads, queue)
each_of += (approves, order, misfits, remembers)
handlers = {each.__name__: each for each in each_of}
defaults = {"asked": {"timeout": 3600, "max_attempts": 9}}
options = {"queues": ["urgent", "default", "low"], "order": "strict"} if name == "ordered" else {}
options.update(concurrency=concurrency, token=token[0] if token else None, name=name, abort_grace=grace, defaults=defaults)
worker = millrace.Worker(url, handlers, **options)
signal.signal(signal.SIGUSR1, lambda *_: (told.set(), say("told")))
signal.signal(signal.SIGTERM, lambda *_: worker.stop(timeout=0))
try:
    worker.run()
    say("stopped")
except millrace.ConnectionLost as lost:
    say("refused", lost.code)
