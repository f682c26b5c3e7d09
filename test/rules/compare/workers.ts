import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const workers: Group = {
  name: 'workers',
  rows: [
    has(
      'A new job starts at once, without a poll',
      'yes partly yes yes yes yes no yes yes yes',
      ['packages/core/src/kernel/jobs/enqueue.test.ts', 'a job enqueued while a worker waits is inserted as active, in the same turn'],
      { pgBoss: 'with `useListenNotify` and a queue that notifies' },
    ),
    has(
      'Handlers on threads',
      'yes no no yes yes yes yes yes partly yes',
      ['test/engine/threads.test.ts', 'runs in another thread, whose setup is called once'],
      {
        river: 'goroutines',
        oban: 'processes of the BEAM',
        hatchet: 'by the language of the worker',
        faktory: 'by the language of the worker',
      },
    ),
    has(
      'Handlers in processes of their own',
      'yes no partly no no Ent yes no no no',
      ['test/engine/processes.test.ts', 'runs in another process, beside the handlers of this thread'],
      { graphile: 'executable files are tasks' },
    ),
    has(
      'Jobs that are shell commands, without code of yours',
      'no no yes no no no no no no no',
      ['test/exec/outcomes.test.ts', 'exit code, stdout, stderr and how long it took'],
      { graphile: 'executable files are tasks' },
    ),
    has('Jobs that are signed HTTP requests', 'no no no no no no no no no no', [
      'packages/webhooks/src/deliver/deliver.test.ts',
      'signed, with each secret of its name while one takes over',
    ]),
    has(
      'Workers on other hosts, without access to the store',
      'partly partly no no no no no no yes yes',
      ['test/remote/processes.proof.test.ts', 'servers killed under load and started again'],
      { bullmq: 'by BullMQ Proxy, over HTTP', pgBoss: 'by the HTTP proxy, with `fetch` and `complete`' },
    ),
    has('Graceful stop, with a limit', 'yes yes yes yes yes yes yes yes yes yes', [
      'test/engine/working.test.ts',
      'past the time limit the signal aborts, and the job is given back without using an attempt',
    ]),
    has(
      'Health checks of a worker process',
      'no no no no no Ent no yes partly no',
      ['test/app/workerHealth.test.ts', 'it lives and is ready; while it drains it lives, and is not ready'],
      { hatchet: 'in Python' },
    ),
    has(
      'Progress',
      'yes no no partly partly no no no partly Ent',
      ['test/engine/working.test.ts', 'progress is kept, and told as an event'],
      {
        river: 'as output or metadata of the job',
        oban: 'a recipe sends messages of your own',
        hatchet: 'as a stream to the caller',
      },
    ),
    has(
      'Progress as any JSON value',
      'yes no no partly no no no no partly no',
      ['packages/worker/src/context.test.ts', 'progress: a value beside the fraction'],
      { river: 'as output or metadata of the job', hatchet: 'as a stream to the caller' },
    ),
    lacks(
      'A handler streams to its caller while it runs',
      'no no no no no no no no yes no',
      'A caller sees progress by [events](events.md), and gets the output at the end.',
    ),
    has('Log lines of a job', 'yes no no yes no no no no yes no', [
      'test/engine/working.test.ts',
      'every run is told: start, end, worker, error, log',
    ]),
    has(
      'More than 100 log lines of a run, read page by page',
      'yes no no partly no no no no yes no',
      ['packages/testkit/src/conformance/runs.ts', 'log lines come page by page, those of the last run unless another is named'],
      { river: 'in the metadata of the job, in one piece: the newest 8 MB unless set', hatchet: '1,000 lines of each step' },
    ),
    has(
      'State of a run that the next attempt finds',
      'yes no no yes no partly yes yes yes no',
      ['test/engine/working.test.ts', 'a checkpoint is found by the next attempt; data stays what it was'],
      {
        bullmq: 'by a change of the job’s data',
        sidekiq: 'the place of an iterable job',
        solid: 'the cursor of a continuation',
        goodJob: 'the cursor of a continuation',
      },
    ),
    has(
      'Middleware around each enqueue',
      'no no no yes no yes yes yes no partly',
      ['packages/testkit/src/middleware.test.ts', 'of one job, of many, of an iterable, of a flow and of a batch'],
      { faktory: 'in the clients of some languages' },
    ),
    has(
      'Middleware around each run',
      'no no no yes Pro yes yes yes partly partly',
      ['test/engine/middleware.test.ts', 'around a handler of the thread pool'],
      { hatchet: 'experimental; not in Go', faktory: 'in the workers of some languages' },
    ),
    has(
      'Pause and resume one worker',
      'yes no no no yes partly no no yes partly',
      ['test/engine/working.test.ts', 'paused, it begins nothing until it resumes'],
      { sidekiq: '`quiet` stops fetching, and nothing resumes it', faktory: '`quiet` stops fetching, and nothing resumes it' },
    ),
    has('Change the concurrency of a running worker', 'yes no no no yes no no no no no', [
      'test/engine/working.test.ts',
      'its concurrency grows and shrinks while it runs',
    ]),
    lacks(
      'A worker takes a range of priorities',
      'no yes no no no no no no no no',
      'A worker chooses queues and names ([workers](workers.md)); put urgent jobs into a queue of their own.',
    ),
    lacks(
      'More and fewer worker processes by load',
      'no no no no Pro no no no Paid no',
      'Your platform starts processes; [metrics](observability.md) show it how many jobs wait, and for how long.',
    ),
    has('Queues by prefix', 'no no no no no no yes no no no', [
      'packages/core/src/kernel/queues/strictQueues.test.ts',
      'a queue that is created later is served by its prefix, in the place of the prefix',
    ]),
    lacks(
      'Jobs for workers with a label, or for the same worker again',
      'no no partly no no no no no yes no',
      'Give each kind of worker a queue, and enqueue there ([workers](workers.md)).',
      { graphile: 'a worker leaves out jobs with forbidden flags' },
    ),
  ],
}
