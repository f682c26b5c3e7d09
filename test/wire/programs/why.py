"""Why jobs wait, in words: `why.py blocking|asyncio URL`. Says as JSON the words of each job, and the codes that there are words for."""

import json
import sys

from either import connect, millrace
from millrace import _schema

with connect(*sys.argv[1:3]) as client:
    jobs = [client.explain(job.id) for job in client.jobs(order="oldest")]
    print(json.dumps({"words": {job.id: [job.message, *(cause.message for cause in job.causes)] for job in jobs}}))
    print(json.dumps({"codes": sorted([*_schema.CAUSES, "parents"])}))
