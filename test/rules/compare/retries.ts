import { type Group, has, lacks, partly } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const retries: Group = {
  name: 'retries',
  rows: [
    has('Retries with backoff', 'yes yes yes yes yes yes yes yes yes yes', ['test/ports/time.test.ts', 'retries by the default backoff'], {
      solid: 'by `retry_on` of Active Job',
      goodJob: 'by `retry_on` of Active Job',
    }),
    has('Backoff by a function of your own', 'yes no no yes yes yes yes yes no no', [
      'test/engine/working.test.ts',
      'RetryAfterError sets the delay; a function is asked',
    ]),
    has('Retries bounded by time', 'no no no no no yes no no no no', [
      'packages/core/src/kernel/jobs/runs.test.ts',
      'no retry begins later than maxAge after the enqueue',
    ]),
    has(
      'A handler ends the retries',
      'yes partly no yes yes yes yes yes yes no',
      ['test/engine/working.test.ts', 'NonRetryableError fails at once'],
      { pgBoss: 'a batch handler with `perJobResults` answers `deadletter`' },
    ),
    has(
      'A handler puts its job off without using an attempt',
      'yes no no yes yes no partly partly yes no',
      ['test/engine/working.test.ts', 'snooze and discard end a run'],
      {
        solid: '`retry_job` counts as an execution',
        goodJob: '`retry_job` counts as an execution',
        hatchet: 'a durable task sleeps',
      },
    ),
    has(
      'Timeout of a run',
      'partly yes no yes yes no no no yes partly',
      ['test/engine/working.test.ts', 'the signal says why; the attempt failed; the next one runs'],
      { bullmq: 'Pro: for observables', faktory: 'the job is tried again after `reserve_for`; the handler is not aborted' },
    ),
    has(
      'A hung handler is killed',
      'partly no no no yes no no no no no',
      ['test/engine/threads.test.ts', 'a handler that ignores its abort is killed after the grace'],
      { bullmq: 'by a pattern for sandboxed processors' },
    ),
    has(
      'Cancel a running job',
      'partly partly no yes yes partly no no yes no',
      ['test/engine/working.test.ts', 'an active job is cancelled through its signal'],
      {
        bullmq: 'on the worker that has it; the job counts as failed',
        pgBoss: 'the state changes; the signal aborts when the job expires and on shutdown',
        sidekiq: 'iterable jobs, between two iterations',
      },
    ),
    has('A cancel with a reason for the handler', 'yes no no no no no no no no no', [
      'test/engine/working.test.ts',
      'a cancel that says why is told to the handler',
    ]),
    has('A handler cancels its own job', 'no no no yes yes no no no yes no', [
      'test/engine/working.test.ts',
      'a handler cancels its own job, by the context or by an error',
    ]),
    has(
      'Dead-letter queue',
      'no yes no Pro no partly no no no partly',
      [
        'packages/core/src/kernel/jobs/deadLetter.test.ts',
        'a dead letter is created by the last attempt alone, and runs with the payload of its job',
      ],
      { river: 'a table beside the jobs', sidekiq: 'one dead set for all', faktory: 'one dead set for all' },
    ),
    has(
      'Every failed attempt is kept with its error',
      'partly no no yes yes no no yes yes no',
      ['test/engine/working.test.ts', 'every run is told: start, end, worker, error, log'],
      { bullmq: 'only stack traces' },
    ),
    partly(
      'A hook when attempts are used up',
      'partly no partly partly Pro yes yes yes yes no',
      [
        'packages/core/src/kernel/jobs/deadLetter.test.ts',
        'a lost worker creates a dead letter, also after a restart that has left the payload on disk',
      ],
      'Use a handler of the [dead-letter queue](failures.md#code-that-must-run-after-a-permanent-failure), which is a job of its own. A definition has no hook, because a dead worker could not call it ([ADR 65](decisions/0065-left-out.md)).',
      {
        bullmq: 'an event',
        graphile: 'an event of the worker process',
        river: 'the error handler gets every error',
        solid: '`after_discard` of Active Job',
        goodJob: '`after_discard` of Active Job',
      },
    ),
    has(
      'Retry, cancel and delete many by a filter',
      'partly partly partly partly yes partly partly yes yes yes',
      ['packages/testkit/src/conformance/jobs.ts', 'cancelMany, retryMany and deleteMany take what the filter matches'],
      {
        bullmq: 'by state; `clean` by age',
        pgBoss: 'by a list of ids',
        graphile: 'by a list of ids',
        river: 'deletes by a filter; the rest by id',
        sidekiq: 'a whole set, or a scan of your own',
        solid: 'by relations of Active Record',
      },
    ),
    has(
      'Run now and change many by a filter',
      'partly partly partly no no no no no no no',
      ['packages/core/src/kernel/jobs/many.test.ts', 'updateMany'],
      {
        bullmq: '`promoteJobs` runs all delayed jobs of a queue',
        pgBoss: 'all jobs of one singleton key',
        graphile: 'by a list of ids: time, priority, attempts',
      },
    ),
    lacks(
      'Retry of a completed job',
      'yes no no yes yes no no no yes no',
      'Callers have its output, and jobs of its flow may have started on it. A second run would replace both the output and the record of the run ([lifecycle](lifecycle.md#retry-and-runnow)). [`enqueueAgain`](lifecycle.md#enqueueagain) creates a copy.',
    ),
    lacks(
      'Complete a job from outside, without a run',
      'no yes yes no no no no no no no',
      'Only the run of a job completes it ([lifecycle](lifecycle.md)). From outside you can cancel or delete it.',
    ),
    has(
      'The job of a dead worker runs again',
      'yes yes partly yes yes Pro no yes yes yes',
      ['test/remote/processes.proof.test.ts', 'a worker killed by kill -9: its job runs elsewhere when its lease is over'],
      {
        graphile: 'after four hours; Pro: by heartbeats',
        solid: 'the job is marked as failed, and you look at it',
        river: 'after an hour by default',
        oban: 'after an hour by default; Pro: by the node',
      },
    ),
    has(
      'Lost workers counted apart from attempts',
      'yes no no partly no Pro no yes no no',
      ['test/engine/working.test.ts', 'maxLost: lost workers use no attempt, across restarts'],
      { river: 'a counter in the metadata' },
    ),
  ],
}
