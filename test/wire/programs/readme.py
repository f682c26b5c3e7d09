"""The fragments of clients/python/README.md, one after the other, in the folder of a daemon: `readme.py README`. Says as JSON what they did."""

import json
import pathlib
import re
import sys
import threading
import time

import millrace

URL = "unix:millrace.db-socket"
BLOCKS = re.findall(r"```python\n(.*?)```", pathlib.Path(sys.argv[1]).read_text("utf-8"), re.S)
FRAGMENTS = [block for block in BLOCKS if "import millrace" not in block]


class Saved(Exception):
    pass


def save(event, seq):
    saved.append([event.type, event.name, seq > 0])
    raise Saved()


def fails(job):
    raise ValueError("no")


saved, charged = [], []
with millrace.connect() as client:
    names = {"millrace": millrace, "client": client, "links_of": lambda site: [site + "/a", site + "/b"], "save": save, "last_seq": 0}
    names.update(reserve=lambda data: ["seat", data], charge=lambda data, key: charged.append(key), send_ticket=lambda seat: {"sent": seat})
    crawl, order, answers, why, events, changes, many, settings = FRAGMENTS
    exec(crawl, names)
    exec(order, names)
    handlers = {"crawl": names["crawl"], "order": names["order"], "page": lambda job: job.data["url"], "fails": fails}
    worker = millrace.Worker(URL, handlers)
    thread = threading.Thread(target=worker.run)
    thread.start()
    crawled = client.result(client.enqueue("crawl", {"site": "s"}), timeout=60)
    ordered = client.enqueue("order", "A7")
    while client.get(ordered).state != "scheduled":
        time.sleep(0.01)
    client.run_now(ordered)
    sent = client.result(ordered, timeout=60)
    failed = client.enqueue("fails", {"path": "a.png"}, queue="images", max_attempts=1)
    try:
        client.result(failed, timeout=60)
    except millrace.Error:
        pass
    names["id"] = str(failed)
    exec(answers, names)
    exec(why, names)
    try:
        exec(events, names)
    except Saved:
        pass
    worker.stop()
    thread.join()
    exec(changes, names)
    moved, bystander = (client.enqueue("nobody", tags=[tag], queue="images") for tag in ("customer:7", "customer:9"))
    exec(many, names)
    tags = [client.get(job).tags for job in (moved, bystander)]
    exec(settings, names)
    schedules = [schedule.id for schedule in client.schedules()]
    flows = [[flow.name, flow.state] for flow in client.flows(state="running")]
    told = {"crawled": crawled, "sent": sent, "charged": charged == [str(ordered) + ":charge"], "saved": saved}
    told.update(paused=client.queue("images").paused, schedules=schedules, flows=flows)
    told.update(why=names["why"].message, tags=tags, settings=client.queue("images").settings)
    print(json.dumps({**told, "retried": client.get(failed).state}))
