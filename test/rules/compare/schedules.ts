import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const schedules: Group = {
  name: 'schedules',
  rows: [
    has('Cron', 'yes yes yes yes yes Ent yes yes yes Ent', [
      'test/engine/schedules.test.ts',
      'a cron expression, from the first upsert to its result',
    ]),
    has(
      'Ticks below a minute',
      'yes partly no yes no no yes yes yes no',
      ['packages/core/src/kernel/schedules/schedules.test.ts', 'late turns do not make the interval of a schedule drift'],
      { pgBoss: 'six fields are parsed, and schedules are checked every 30 s' },
    ),
    has(
      'Time zones',
      'yes yes no partly yes Ent yes yes no no',
      ['test/engine/schedules.test.ts', 'through the engine, on the days on which clocks change'],
      { river: 'by the cron library that you bring' },
    ),
    has(
      'Schedules created and changed at run time',
      'yes yes no partly Pro no yes partly yes partly',
      ['test/engine/schedules.test.ts', 'update changes what is named, and keeps the rest'],
      {
        river: 'in the memory of a client, and only the leader enqueues',
        goodJob: 'the dashboard enables and disables the entries of the configuration',
        faktory: 'Ent: SIGHUP reads the files again',
      },
    ),
    has(
      'Pause and resume a schedule',
      'no no no no Pro Ent no yes yes no',
      ['test/engine/schedules.test.ts', 'by hand: pause, resume, trigger, list, delete'],
      { hatchet: 'by a pause of the workflow' },
    ),
    has(
      'Missed ticks are caught up',
      'partly no yes Pro Pro no no yes no no',
      ['packages/core/src/kernel/schedules/schedules.test.ts', 'catchUp latest: one job stands for all missed ticks'],
      {
        bullmq: 'the next job waits in the queue, so one late run follows a downtime',
        graphile: 'within the time of `fill`, which a downtime must not exceed',
        goodJob: 'within `cron_graceful_restart_period`',
      },
    ),
    has(
      'Overlap policy: skip, queue, cancel, allow',
      'partly partly partly partly partly partly partly partly partly partly',
      ['packages/core/src/kernel/schedules/schedules.test.ts', 'overlap allow: jobs run beside each other'],
      {
        bullmq: 'the next tick begins when the last job starts',
        pgBoss: 'by the policy of the queue',
        graphile: 'a job key replaces the waiting job',
        river: 'by unique jobs',
        oban: 'by unique jobs',
        sidekiq: 'Ent: by unique jobs',
        solid: 'by concurrency limits',
        goodJob: 'by concurrency limits',
        hatchet: 'by concurrency strategies',
        faktory: 'Ent: by unique jobs',
      },
    ),
    has('A changed schedule changes the job that waits', 'yes no no no no no no no no no', [
      'packages/core/src/kernel/schedules/updateWaiting.test.ts',
      'the job that waits takes data, priority, weight, tags and meta',
    ]),
    has('First and last date, and at most n runs', 'yes no no no no no no no no no', [
      'packages/core/src/kernel/schedules/schedules.test.ts',
      'the last job ends the schedule',
    ]),
    has(
      'A new schedule runs at once',
      'yes no no yes partly no no no no no',
      ['packages/core/src/kernel/schedules/schedules.test.ts', 'runImmediately: an upsert creates a job at once if the schedule is new'],
      { oban: '`@reboot` runs at each start of a leader' },
    ),
    has('Jitter of ticks', 'no no no no no no no no no no', [
      'packages/core/src/kernel/schedules/schedules.test.ts',
      'the jitter of a tick is always the same and within its bound',
    ]),
    lacks(
      'A function of your own names the next time',
      'yes no no yes no no no yes no no',
      'A schedule is data that survives every process ([ADR 12](decisions/0012-ticks.md)). A handler can enqueue its successor with a `delay`.',
    ),
    lacks(
      'Times in words (every day at 9am)',
      'no no no no no no yes yes no no',
      'A schedule takes cron or an interval ([options](schedules.md#options-cron-interval-time-zone)): one grammar, and no guess at the meaning of a phrase.',
    ),
  ],
}
