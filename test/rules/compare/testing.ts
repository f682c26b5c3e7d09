import { type Group, has } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const testing: Group = {
  name: 'testing',
  rows: [
    has('Run jobs inline', 'no no partly yes yes yes yes yes partly yes', ['packages/testkit/src/engine.test.ts', "mode: 'inline'"], {
      graphile: '`runOnce` runs what is due',
      hatchet: '`mock_run` in Python',
      faktory: 'in the Ruby worker',
    }),
    has(
      'Run until nothing is left',
      'no partly yes no yes yes yes yes no yes',
      ['packages/testkit/src/engine.test.ts', 'waits for all that jobs set off'],
      { pgBoss: 'spies wait for a job', faktory: 'in the Ruby worker' },
    ),
    has(
      'Assertions on enqueued jobs',
      'no partly no yes yes yes yes yes no yes',
      ['packages/testkit/src/enqueued.test.ts', 'answers what matches'],
      {
        pgBoss: 'spies find a job',
        solid: 'by the test adapter of Active Job',
        goodJob: 'by the test adapter of Active Job',
        faktory: 'in the Ruby worker',
      },
    ),
    has(
      'Virtual clock for delays, retries, timeouts and schedules',
      'no no no no partly partly partly partly no no',
      ['packages/testkit/src/engine.test.ts', 'fires delays, retries and timeouts in order'],
      {
        oban: '`drain_queue` can run scheduled jobs too',
        sidekiq: 'time helpers of your framework',
        solid: 'time helpers of Rails',
        goodJob: 'time helpers of Rails, with inline jobs',
      },
    ),
    has('Faults on demand: lost answers, full disks, dead workers', 'no no no no no no no no no no', [
      'packages/testkit/src/faults.test.ts',
      'failWrite: nothing is written',
    ]),
  ],
}
