import { type Group, has, lacks, partly } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const keys: Group = {
  name: 'keys',
  rows: [
    has(
      'One live job for each key',
      'yes yes partly yes yes Ent partly yes yes Ent',
      ['packages/core/src/kernel/jobs/enqueue.test.ts', 'a job that waits for its retry holds its key'],
      {
        graphile: 'a running job does not hold its key, but in the mode `unsafe_dedupe`',
        oban: 'strictly with Pro',
        solid: 'for a `duration`, with `on_conflict: :discard`',
        hatchet: 'in beta',
      },
    ),
    has(
      'One job for each key and time (throttle)',
      'yes yes partly yes yes Ent no yes yes Ent',
      ['test/engine/shaping.test.ts', 'a leading debounce and a throttle'],
      { graphile: 'while the first job waits, with `preserve_run_at`' },
    ),
    has(
      'Debounce: run when it has been quiet, with the last data',
      'yes partly yes no partly no no no no no',
      ['test/engine/shaping.test.ts', 'a debounce: one run when it has been quiet, with the last data'],
      { pgBoss: 'one more job in the next slot of time', oban: 'by a unique scheduled job whose arguments are replaced' },
    ),
    has('A repeated call replaces the data of the waiting job', 'yes yes yes no yes no no no no no', [
      'test/engine/producing.test.ts',
      'skip, replace and reschedule answer the live job',
    ]),
    lacks(
      'The arrays of several calls become one payload',
      'no no yes no no no no no no no',
      'A repeated call replaces data and never merges it. A [batch handler](batches.md) gets the data of many calls at once.',
    ),
    has(
      'Idempotency key that outlives the job',
      'partly partly no yes yes no no no yes no',
      ['test/ports/time.test.ts', 'an idempotency key is forgotten after its ttl'],
      { bullmq: 'the id of a job, as long as the job is kept', pgBoss: 'the id of a job, as long as the job is kept' },
    ),
    has('Unique by a hash of the arguments', 'no no no yes yes Ent yes yes yes Ent', [
      'test/engine/producing.test.ts',
      'by the data: all of it, or some fields, wherever the call is made',
    ]),
    partly(
      'Unique within states that you choose',
      'no yes no yes yes Ent no yes partly Ent',
      ['test/engine/producing.test.ts', 'until the start: one job waits, and a call during its run creates one more'],
      'A key is held until the end, or until the [start](keys.md#held-until-the-start). A job never takes a key later, when another could have it ([ADR 59](decisions/0059-unique-by-data.md)).',
      { hatchet: 'until the run ends, or for a time' },
    ),
    lacks(
      'A new call cancels the running job of its key',
      'no no no no no no no no yes no',
      'A running job is never replaced silently: the call fails with `JobActiveError` ([keys](keys.md#unique--key--by-onconflict-until-), [ADR 65](decisions/0065-left-out.md)).',
    ),
    has('Free a key by hand', 'yes no no no no no no no no no', [
      'packages/core/src/kernel/turn/byKey.test.ts',
      'a key that is released is free for the next call of the same turn, and its job continues without it',
    ]),
    has('Get, change and cancel a job by its key', 'yes yes yes no no no no no no no', [
      'packages/testkit/src/conformance/jobs.ts',
      'a job by its keys: read, changed, released, cancelled',
    ]),
  ],
}
