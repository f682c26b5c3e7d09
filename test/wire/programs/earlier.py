"""A client that is newer than its server: `earlier.py blocking|asyncio URL`. Operations and settings have numbers and names that no server
knows yet, as those of today have for the servers of yesterday. Says as JSON what each call raised, and what it left."""

import json
import sys

from either import connect, millrace
from millrace import messages, settings

JOB = {"all": True}
CALLS = {
    "explain": lambda client, job: client.explain(job),
    "history": lambda client, job: client.history(),
    "failures": lambda client, job: client.failures(),
    "queueKeys": lambda client, job: client.queue_keys("default"),
    "getByKey": lambda client, job: client.get(millrace.JobOfKey("a", unique_key="u")),
    "byKey": lambda client, job: client.cancel(millrace.JobOfKey("a", unique_key="u")),
    "cancelMany": lambda client, job: client.cancel_many(JOB),
    "retryMany": lambda client, job: client.retry_many(JOB),
    "deleteMany": lambda client, job: client.delete_many(JOB),
    "runNowMany": lambda client, job: client.run_now_many(JOB),
    "updateMany": lambda client, job: client.update_many(JOB, priority=1),
    "drainQueue": lambda client, job: client.drain_queue("default"),
    "deleteQueue": lambda client, job: client.delete_queue("default"),
    "stopWorker": lambda client, job: client.stop_worker("one"),
    "getFlow": lambda client, job: list(client.flow_jobs(job)),
    "export": lambda client, job: next(client.export("archive")),
    "exports": lambda client, job: client.exports(),
    "backup": lambda client, job: client.backup("copy.db"),
    "configure": lambda client, job: client.configure_queue("default", share=2),
}

with connect(*sys.argv[1:3]) as client:
    job = client.enqueue("a", unique="u", delay=3600)
    for number, (op, call) in enumerate(CALLS.items()):
        known = messages.OPS[op]
        messages.OPS[op] = 900 + number
        try:
            said = call(client, job)
        except millrace.Error as error:
            said = [type(error).__name__, error.code, op in error.message]
        messages.OPS[op] = known
        print(json.dumps({op: said}))
    settings.SETTINGS["phase_of_day"] = lambda option, value: value
    try:
        client.configure_queue("default", share=2, phase_of_day="dusk")
    except millrace.Error as error:
        print(json.dumps({"setting": [error.code, error.message]}))
    info = client.get(job)
    print(json.dumps({"left": [info.state, info.priority, client.queue("default").settings]}))
