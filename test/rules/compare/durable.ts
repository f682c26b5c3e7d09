import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const durable: Group = {
  name: 'durable',
  rows: [
    has(
      'No server: a file, or a database within the process',
      'no partly no yes yes no yes no no no',
      ['test/start/loading.test.ts', 'an engine: nothing more here, and its writer'],
      { pgBoss: 'PGlite, one connection' },
    ),
    has(
      'PostgreSQL',
      'yes yes yes yes yes no yes yes yes no',
      ['test/postgres/engines.test.ts', 'others attach to it, take its place when it is killed or stops, and lose nothing'],
      { bullmq: 'since 6' },
    ),
    has('SQLite', 'no no no yes yes no yes no no no', [
      'packages/sqlite/src/store.test.ts',
      'keeps what it was told when it is closed and opened',
    ]),
    lacks(
      'MySQL',
      'no no no no yes no yes no no no',
      'A store needs one writer that fences the others. SQLite and Postgres are the two that we prove ([ADR 49](decisions/0049-postgres-store.md)).',
    ),
    lacks(
      'Redis',
      'yes no no no no yes no no no yes',
      'An answer means that the job is synced to disk ([durability](durability.md)); Redis does not promise this by default.',
    ),
    has(
      'An enqueued job survives a power cut, by default',
      'partly yes yes yes yes partly yes yes yes partly',
      ['test/proof/powerloss/powerloss.test.ts', 'under full everything that was answered is there, and nothing is broken'],
      {
        bullmq: 'if Redis syncs each write; with PostgreSQL, yes',
        sidekiq: 'if Redis syncs each write',
        faktory: 'if Redis syncs each write',
      },
    ),
    has('Several hosts on one queue', 'yes yes yes yes yes yes yes yes yes yes', [
      'test/postgres/engines.test.ts',
      'a schema has one owner: others attach to it, take its place when it is killed or stops',
    ]),
    has('Jobs that a handler enqueues commit with its completion', 'no yes no yes no no no no no no', [
      'test/engine/working.test.ts',
      'what a handler enqueues comes with its completion, or not at all',
    ]),
    lacks(
      'The completion commits with the handler’s own writes',
      'no yes no yes no no no no no no',
      'A completion is a commit of the queue’s own store ([outbox](outbox.md) is for enqueues). Make handlers idempotent by `job.id`.',
    ),
    has('Back-pressure: new work is refused when the queue cannot keep up', 'no no no no no no no no no no', [
      'packages/client/src/mailbox.test.ts',
      'by count: beyond it new work is refused as busy, and nothing else',
    ]),
  ],
}
