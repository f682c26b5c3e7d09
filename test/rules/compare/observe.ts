import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const observe: Group = {
  name: 'observe',
  rows: [
    has(
      'Web dashboard',
      'partly yes no yes yes yes yes yes yes yes',
      ['test/dashboard/overview.test.ts', 'the problems, worst first, each with its remedy'],
      { bullmq: 'the makers sell Taskforce; bull-board is by others', solid: 'Mission Control, a gem beside it' },
    ),
    has('OpenTelemetry traces', 'yes no no yes no no no no yes no', [
      'test/engine/otel.test.ts',
      'a run is a child of its enqueue, which is a child of what called it',
    ]),
    has(
      'Prometheus metrics',
      'yes no no no no no no no yes no',
      ['packages/http/src/metrics/openMetrics.test.ts', 'queues and names, in base units'],
      { sidekiq: 'StatsD with Pro', faktory: 'StatsD with Ent' },
    ),
    has('Events of all workers in one stream', 'yes no no no no no no no yes no', [
      'test/engine/following.test.ts',
      'the whole life of jobs, in one order',
    ]),
    has(
      'Events without loss, from a cursor',
      'partly no no no no no no no no no',
      ['test/engine/following.test.ts', 'misses nothing at the end of the journal, and sees nothing twice'],
      { bullmq: 'the newest 10,000 or so' },
    ),
    has('An event when a call is answered by an earlier job', 'yes no no no no no no no no no', [
      'packages/core/src/kernel/jobs/repeats.test.ts',
      'a queue that reports repeats',
    ]),
    has(
      'An event when a queue has run empty',
      'partly no no no no no no no no no',
      [
        'packages/core/src/kernel/queues/empty.test.ts',
        'it comes in each turn that leaves no live job of those that there were, and in no other',
      ],
      { bullmq: '`drained` comes when no job waits; some may run, or be delayed' },
    ),
    has('Webhooks for events of jobs', 'no no no no no no no no no no', [
      'test/webhooks/feeding.test.ts',
      'one delivery for each event that fits, for each endpoint',
    ]),
    has(
      'Find jobs by their data',
      'no yes no yes yes yes no yes partly partly',
      ['packages/core/src/kernel/jobs/containment.test.ts', 'a JSON value contains what is left of it when parts are removed'],
      {
        pgBoss: 'fields of the top level',
        hatchet: 'by additional metadata',
        faktory: 'the Mutate API matches a pattern, and changes what it finds',
      },
    ),
    has(
      'Several states, and another order, in one list',
      'yes partly partly yes yes no partly partly yes no',
      ['packages/core/src/kernel/jobs/many.test.ts', 'a filter with several states selects jobs in any of them, and no others'],
      {
        pgBoss: 'by SQL on its tables',
        graphile: 'by SQL on the view `jobs`',
        solid: 'by relations of Active Record',
        goodJob: 'by relations of Active Record',
      },
    ),
    lacks(
      'Counts by priority',
      'yes no no no no no no no no no',
      '`stats` counts by state, queue and name ([reference](reference/stats.md)).',
    ),
    has('Counts and failures over time, kept by the queue', 'yes yes no no yes yes no yes yes yes', [
      'test/engine/observability.test.ts',
      'history and failures are there after a restart',
    ]),
  ],
}
