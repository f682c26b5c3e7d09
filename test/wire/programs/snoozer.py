"""A worker whose handler puts its job off, and a part of the job's queue with it: `snoozer.py URL`."""

import sys

from either import millrace


def snoozes(job):
    raise millrace.Snooze(3600, pause=job.data)


millrace.Worker(sys.argv[1], {"snoozes": snoozes}).run()
