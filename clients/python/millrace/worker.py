"""The worker: it runs each handler in a thread."""

from __future__ import annotations

import threading
from typing import Any, Callable

from ._schema import Grant
from .job import Job, JobContext
from .runs import raised
from .session import Session

Handler = Callable[[Job], Any]


class Worker(Session[Handler]):
    """Runs handlers, each in a thread: a dict of functions of one Job by name of job. What a handler returns is the job's output, unless
    the worker has told it to stop: then the job is given back, and runs again.

    `url`, `token`: as of `connect`. `concurrency`: the weight that runs at a time, 1 to 100,000, default 4. `min_concurrency`: below it the
    engine sends more; default `concurrency`. `queues`: the queues that it serves, with an asterisk for the rest of a name; default all.
    `order`: with 'strict' a job starts in this worker only if no earlier queue of `queues` has a job in line that could start; 'fair'
    (default): they take turns. `name`: its public name; default: made up. `abort_grace`: the seconds that an aborted handler has, default
    30. `defaults`: options of `new_job` by name of job, for jobs that are enqueued by name alone. Raises Error (OPTION_TYPE,
    OPTION_RANGE)."""

    def run(self) -> None:
        """Works until `stop` is called. Raises ConnectionLost only where it is of no use to come back."""
        self._work()

    def _job_of(self, grant: Grant) -> Job:
        return Job(self, grant)

    def _begin(self, job: JobContext) -> None:
        # One of its own, not of a pool: behind a handler that ignores its abort nothing else waits, and the process ends without it.
        threading.Thread(target=self._execute, args=[job], name="millrace-job", daemon=True).start()

    def _execute(self, job: Job) -> None:
        try:
            output = self._handlers[job.name](job)
        except BaseException as error:
            settlement = raised(job, error)
        else:
            settlement = self._returned(job, output)
        self._settle(job, settlement)
