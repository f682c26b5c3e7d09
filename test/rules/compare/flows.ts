import { type Group, has, partly } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const flows: Group = {
  name: 'flows',
  rows: [
    has(
      'Jobs that wait for other jobs, as a graph',
      'partly yes no Pro Pro partly no partly yes partly',
      ['packages/core/src/kernel/flows/flow.test.ts', 'a job waits for all of its parents, and is then released once'],
      {
        bullmq: 'trees: each job has one parent',
        sidekiq: 'Pro: by nested batches',
        goodJob: 'by batches whose callbacks enqueue more',
        faktory: 'Ent: by nested batches',
      },
    ),
    has('Outputs of the jobs before', 'yes no no Pro Pro no no no yes no', [
      'test/engine/flows.test.ts',
      'runs each job after those that it depends on, which it can ask for their outputs',
    ]),
    has('Effect of a failed dependency, set for each edge', 'yes no no Pro Pro no no no yes no', [
      'packages/core/src/kernel/flows/flow.test.ts',
      'a parent that fails releases its children with onFailure %s once all parents have ended',
    ]),
    has('Cancel and retry the jobs that depend on a job', 'no no no Pro Pro no no no yes no', [
      'test/engine/flows.test.ts',
      'is cancelled and retried below one of its jobs',
    ]),
    has('A running job adds jobs and waits for them', 'yes no no Pro Pro Pro no yes yes Ent', [
      'test/engine/join.test.ts',
      'a handler joins jobs in one place: they run there, and their outputs come back in order',
    ]),
    partly(
      'Jobs added to a batch that is running',
      'yes no no no Pro Pro no yes partly Ent',
      ['test/engine/join.test.ts', 'a handler joins jobs in one place: they run there, and their outputs come back in order'],
      'A job of the batch [joins](flows.md#work-that-grows-while-it-runs) what it finds; nothing is added from outside ([ADR 65](decisions/0065-left-out.md)).',
      {
        sidekiq: 'by jobs of the batch',
        hatchet: 'by jobs that a task starts',
        faktory: 'by jobs of the batch',
      },
    ),
    has(
      'Batch with a callback',
      'yes partly no Pro Pro Pro no yes yes Ent',
      ['test/engine/flows.test.ts', 'runs its callback once, when all have ended, and that one sees how'],
      { pgBoss: 'the last job of a flow, if none of the others has failed' },
    ),
    has('One callback for success, another for the first failure', 'no no no no Pro Pro no yes yes Ent', [
      'test/engine/flows.test.ts',
      'runs the callbacks of its end: %s',
    ]),
    has(
      'Handler that takes many jobs at once',
      'Pro yes partly Pro Pro no no no yes no',
      ['test/engine/batching.test.ts', 'each job completes, is tried again, or comes later by its own outcome'],
      { graphile: 'one job with an array for its payload', hatchet: 'in beta' },
    ),
    has(
      'All jobs of such a call have one key',
      'Pro no partly Pro Pro no no no yes no',
      ['packages/worker/src/batch/batch.test.ts', 'is full by itself, whatever comes of other keys'],
      { graphile: 'a job key merges the arrays of several calls' },
    ),
    has(
      'Durable steps within a handler',
      'partly no no yes no partly yes yes yes no',
      ['test/engine/steps.test.ts', 'is called once, and gives what JSON gives back: now, and in every later run'],
      {
        bullmq: 'the handler stores the next step in the data of the job',
        sidekiq: 'iterable jobs keep the place in their list',
        solid: 'by continuations of Active Job',
        goodJob: 'by continuations of Active Job',
      },
    ),
    has('A job waits for an event from outside', 'no no no Pro no no no no yes no', [
      'test/engine/messages.test.ts',
      'sleeps until the message comes, without a slot, and gives what JSON gives back',
    ]),
  ],
}
