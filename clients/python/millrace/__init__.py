"""A producer and a worker for Millrace: the standard library alone, Python 3.8 or newer.

    import millrace

    with millrace.connect() as client:                        # to the daemon of this folder
        job = client.enqueue("resize", {"path": "a.png"})     # on disk when it returns
        print(client.result(job, timeout=60))

    def resize(job):
        return {"from": job.data["path"], "attempt": job.attempt}

    millrace.Worker("unix:millrace.db-socket", {"resize": resize}, concurrency=4).run()

Addresses are `unix:/path` and `tcp://host:port`; without one, the engine is found as the command line finds it. Durations are in seconds,
as Python has them. The protocol is written down in docs/protocol.md, and the names of its parts are the names here.
"""

from __future__ import annotations

from typing import Optional

from ._options import JobFilter, JobOptions, QueueSettings, new_job
from ._schema import FLOW_STATES, STATES
from .async_client import AsyncClient
from .async_worker import AsyncJob, AsyncWorker
from .client import Client
from .data import unique_key
from .durable import StepContext
from .encoding import NewJob, Seconds
from .errors import ConnectionLost, Error, ProtocolError, RunSuspended, StepFailedError
from .failures import Cancel, Fail, Retry, Snooze
from .job import Job, Parent
from .keys import JobKey, JobOfKey
from .version import VERSION
from .views import (
    AttemptInfo, Batch, Event, Explanation, ExportBatch, ExportInfo, FailureKind, FlowDependency, FlowInfo, FlowJob, FlowPlace, JobCause,
    JobInfo, JobStep, JobSteps, JobWait, LastRun, LogLine, ManyResult, PurgeResult, QueueInfo, QueueKey, QueueKeys, QueuesHistory, RunError,
    ScheduleInfo, ScheduleSet, Stats, Throughput, WorkerInfo,
)
from .worker import Worker

__all__ = [
    "FLOW_STATES", "STATES", "AsyncClient", "AsyncJob", "AsyncWorker", "AttemptInfo", "Batch", "Cancel", "Client", "ConnectionLost",
    "Error", "Event", "Explanation", "ExportBatch", "ExportInfo", "Fail", "FailureKind", "FlowDependency", "FlowInfo", "FlowJob",
    "FlowPlace", "Job", "JobCause", "JobFilter", "JobInfo", "JobKey", "JobOfKey", "JobOptions", "JobStep", "JobSteps", "JobWait", "LastRun", "LogLine", "ManyResult",
    "NewJob", "Parent", "ProtocolError", "PurgeResult", "QueueInfo", "QueueKey", "QueueKeys", "QueueSettings", "QueuesHistory", "Retry",
    "RunError", "RunSuspended", "ScheduleInfo", "ScheduleSet", "Snooze", "Stats", "StepContext", "StepFailedError", "Throughput", "Worker",
    "WorkerInfo", "connect", "new_job", "unique_key",
]
__version__ = VERSION


def connect(url: Optional[str] = None, token: Optional[str] = None, timeout: Seconds = 10.0) -> Client:
    """A client that is connected. `url` is `unix:/path` or `tcp://host:port`; None: MILLRACE_URL, else the own socket of the daemon of
    MILLRACE_FILE, or of millrace.db in this folder. `token`; None: MILLRACE_TOKEN, else over a daemon's own socket the first token beside
    its file. `timeout` is how many seconds it may take, Raises Error (OPTION_TYPE), and ConnectionLost where nobody answers."""
    client = Client(url, token, timeout)
    client._calls.open()
    return client
