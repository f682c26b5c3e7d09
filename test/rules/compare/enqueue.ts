import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const enqueue: Group = {
  name: 'enqueue',
  rows: [
    has('Many jobs in one call', 'yes yes yes yes yes yes yes yes yes yes', [
      'test/engine/producing.test.ts',
      'an array is atomic, and its handles are in order',
    ]),
    has(
      'Jobs in your own SQL transaction',
      'no yes yes yes yes partly yes yes no no',
      ['test/postgres/outbox.test.ts', 'a job commits and rolls back with the transaction'],
      { sidekiq: 'the transaction-aware client pushes after the commit; a crash between the two loses the job' },
    ),
    has('Delay, or a time to run at', 'yes yes yes yes yes yes yes yes yes yes', [
      'test/ports/time.test.ts',
      'a delayed job starts at its millisecond',
    ]),
    has(
      'Priority of a job',
      'yes yes yes yes yes partly yes yes yes partly',
      ['packages/core/src/kernel/turn/dispatch.test.ts', 'jobs start by higher priority first, then due time, then arrival'],
      {
        river: 'four levels',
        oban: 'ten levels',
        sidekiq: 'by the order or the weights of queues',
        hatchet: 'three levels, within one workflow',
        faktory: 'by the order of queues',
      },
    ),
    lacks(
      'Last in, first out',
      'yes no no no no no no no no no',
      'Jobs of one priority start by due time and arrival. Give an urgent job a higher `priority` ([limits](limits.md#priority-and-order), [ADR 65](decisions/0065-left-out.md)).',
    ),
    has(
      'A job expires if it has not started in time',
      'no partly no no Pro Pro no no yes Ent',
      ['test/ports/time.test.ts', 'a job that was not started in time fails with JobExpiredError'],
      { pgBoss: 'maintenance deletes queued jobs that are older than `retentionSeconds`' },
    ),
    has('Binary payloads', 'no no no no no no no no no no', ['test/engine/producing.test.ts', 'data of any kind comes back as it was']),
    has(
      'Payload checked against a schema at enqueue',
      'no no no partly Pro partly no no yes no',
      ['packages/worker/src/schema.test.ts', 'issues become a ValidationError that says where'],
      { river: 'by the type of the Go struct', sidekiq: 'arguments must be values that JSON keeps' },
    ),
    has(
      'Payloads encrypted at rest',
      'no no no Pro Pro Ent no no partly no',
      ['test/engine/codec.test.ts', 'plain on both sides, unreadable in the file'],
      { hatchet: 'by your own middleware, which is experimental' },
    ),
    has(
      'Tags or metadata to find jobs by',
      'no no no yes yes yes no yes yes partly',
      ['packages/testkit/src/conformance/reading.ts', 'list by state, name and tag'],
      { faktory: 'custom attributes travel with the job, and no query reads them' },
    ),
    has(
      'Change the data, time or priority of a waiting job',
      'yes yes yes partly yes partly no partly partly no',
      ['test/engine/producing.test.ts', 'update a waiting job: data, priority, weight, time, checkpoint'],
      {
        river: '`JobUpdate` changes output and metadata',
        sidekiq: 'the API reschedules scheduled and retried jobs',
        goodJob: 'the dashboard reschedules jobs',
        hatchet: 'scheduled runs get another time',
      },
    ),
    has(
      'Output stored, and awaited by the caller',
      'yes partly no partly Pro no no no yes no',
      ['test/share/share.test.ts', 'result() that waits goes on with the next owner'],
      {
        pgBoss: 'the output is stored; you ask for the job until it is there',
        river: 'the output is stored; events reach only the same client',
      },
    ),
    has(
      'Bounded queue length',
      'partly partly no no no no partly partly no no',
      ['packages/core/src/kernel/queues/limits.test.ts', 'maxLength: jobs that have yet to start count'],
      {
        bullmq: 'Pro: the size of a group, for single jobs',
        pgBoss: 'a queue that is longer causes a warning, no refusal',
        solid: 'for each concurrency key, with `on_conflict: :discard`',
        goodJob: 'for each concurrency key, with `enqueue_limit`',
      },
    ),
    has(
      'Enqueue while the queue is out of reach',
      'partly no no no no Pro no no no no',
      ['test/remote/journal.test.ts', 'before there ever was a server: jobs are taken, and run in order when it comes'],
      {
        bullmq: 'the Redis client keeps commands in memory',
        sidekiq: '`reliable_push` keeps jobs in memory; Millrace writes them to a journal on disk',
      },
    ),
    lacks(
      'Publish and subscribe: one event, a job for each subscriber',
      'no yes no no no no no no yes no',
      'The producer decides what to enqueue: [enqueueMany](batches.md) creates a job for each receiver in one commit.',
    ),
  ],
}
