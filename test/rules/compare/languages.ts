import { type Group, has, lacks } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const languages: Group = {
  name: 'languages',
  rows: [
    has(
      'JavaScript and TypeScript',
      'yes yes yes no no no no no yes yes',
      ['test/engine/types.test.ts', 'of a definition is what result() answers'],
      {
        faktory: 'by others',
      },
    ),
    has(
      'Python',
      'yes no partly partly yes no no no yes yes',
      ['test/wire/python.test.ts', 'a worker in Python: data, bytes, tags and meta'],
      { graphile: 'executable files are tasks', river: 'enqueues only', oban: 'a separate edition', faktory: 'by others' },
    ),
    lacks('Go', 'no no no yes no no no no yes yes', 'No client yet. [The protocol](protocol.md) is documented, with test vectors.'),
    lacks(
      'Ruby',
      'no no no partly no yes yes yes yes yes',
      'No client yet. [The protocol](protocol.md) is documented, with test vectors.',
      { river: 'enqueues only' },
    ),
    lacks('Elixir', 'yes no no no yes no no no no yes', 'No client yet. [The protocol](protocol.md) is documented, with test vectors.', {
      faktory: 'by others',
    }),
    has(
      'Any other language, by a documented protocol or HTTP',
      'yes yes no no no no no no yes yes',
      ['packages/wire/src/vectors.test.ts', 'there is one for every type of message and every operation'],
      { bullmq: 'by BullMQ Proxy', pgBoss: 'by `@pg-boss/proxy`' },
    ),
    has('Enqueue in plain SQL, from any language', 'no yes yes no no no no no no no', [
      'test/postgres/inbox.test.ts',
      'a job is there once its transaction commits',
    ]),
  ],
}
