import { type Group, has, partly } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const limits: Group = {
  name: 'limits',
  rows: [
    has('Concurrency of a worker', 'yes yes yes yes yes yes yes yes yes yes', [
      'packages/core/src/kernel/turn/dispatch.test.ts',
      'a session is filled up to max when its running weight falls below min',
    ]),
    has(
      'Running jobs of a queue, over all workers',
      'yes partly partly Pro Pro Ent yes yes yes Ent',
      ['packages/core/src/kernel/queues/limits.test.ts', 'limits are never exceeded, and no worker with room idles'],
      {
        pgBoss: 'one, by the policy `singleton`',
        graphile: 'one, in a named queue',
        solid: 'of a job class or a key, for a `duration`',
      },
    ),
    has(
      'Running jobs of each key',
      'Pro partly partly Pro Pro Ent yes yes yes no',
      ['packages/core/src/kernel/queues/limits.test.ts', 'a light job is found behind jobs that their keys hold back'],
      {
        pgBoss: 'a race may exceed the limit for a moment',
        graphile: 'one, in a queue for each key',
        solid: 'guaranteed for a `duration`',
      },
    ),
    has(
      'Rate of starts',
      'yes no no no Pro Ent no yes yes no',
      [
        'packages/core/src/kernel/queues/limits.test.ts',
        'rate: a queue never starts more jobs than its burst and the tokens refilled since',
      ],
      { sidekiq: 'the handler asks the limiter, and is rescheduled' },
    ),
    has('Rate of each key', 'Pro no no no Pro Ent no yes yes no', [
      'packages/core/src/kernel/queues/limits.test.ts',
      'rate of a key: a key never starts more jobs than its burst',
    ]),
    has('Heavy jobs take more room', 'no no no no no no no no yes no', [
      'packages/core/src/kernel/turn/dispatch.test.ts',
      'a light job is found behind as many heavy jobs as memory has of its name',
    ]),
    has('Rates by cost: this job takes five points', 'no no no no Pro Ent no no yes no', [
      'packages/core/src/kernel/keys/tokens.test.ts',
      'a job takes its tokens when it starts, and the next job waits until its own are there',
    ]),
    has(
      'Keys take fair turns',
      'Pro no no partly partly no no no yes no',
      ['packages/core/src/kernel/queues/limits.test.ts', 'fairness: keys take turns'],
      { river: 'Pro: within the limit of each partition', oban: 'Pro: within the limit of each partition' },
    ),
    has(
      'Strict order within a key, over retries',
      'partly yes partly Pro Pro no no no partly no',
      ['packages/core/src/kernel/queues/limits.test.ts', 'strict: a key belongs to its job until the job is final'],
      {
        bullmq: 'Pro: groups of concurrency 1; a job that waits for its retry lets others pass',
        graphile: 'one at a time; a job that waits for its retry lets others pass',
        hatchet: 'one at a time with a concurrency of 1',
      },
    ),
    partly(
      'One limit for several queues, or for a job name anywhere',
      'no no no no no Ent yes yes yes no',
      ['packages/core/src/kernel/queues/sharedLimits.test.ts', 'never more jobs run in all queues of a shared limit than it allows'],
      'A [limit of running jobs](limits.md#one-limit-for-several-queues) can be shared by queues; a rate cannot, and a job name has no limit of its own ([ADR 65](decisions/0065-left-out.md)).',
    ),
    has('Other limits for other tiers of keys', 'no yes no no no Ent no yes yes no', [
      'packages/core/src/kernel/keys/tiers.test.ts',
      'a key runs as many jobs as its tier allows, or as many as the queue allows if it is in no tier',
    ]),
    has('A handler that meets HTTP 429 stops its queue for a time', 'yes no no no no no no no no no', [
      'packages/core/src/kernel/queues/pause.test.ts',
      'a snooze that pauses its',
    ]),
    has(
      'Limits changed while jobs run',
      'yes no no Pro yes no no no partly partly',
      ['test/engine/queues.test.ts', 'limits, pauses and defaults outlive the engine'],
      {
        oban: 'kept over a restart with Pro',
        hatchet: 'rate limits by the API; concurrency with the next registration of the workflow',
        faktory: 'Ent: SIGHUP reads the files again',
      },
    ),
    has('Queues take turns by weight', 'no no no no no yes no no no no', [
      'packages/core/src/kernel/queues/limits.test.ts',
      'share: a queue starts that many jobs in a row before the next queue has its turn',
    ]),
    has('Strict order of queues: one empty before the next', 'no no no no no yes yes yes no yes', [
      'packages/core/src/kernel/queues/strictQueues.test.ts',
      'no job of a later queue starts while one of an earlier queue could',
    ]),
  ],
}
