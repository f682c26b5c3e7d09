/** Bugs in the engine around the turns. */
import type { Canary } from './canary.ts'

const actor = 'packages/engine/src/actor/actor.ts'
const memory = 'packages/engine/src/actor/memory.ts'

/** Does something with a turn's effects before they are written. */
const beforeCommit = (work: string) => `this.#parts = {
      store: Object.assign({}, store, {
        write: (effects: any, header: any) => {
          ${work}
          store.write(effects, header)
        },
      }) as any, clock, random, settings, upkeep: this.#housekeeping, meter: this.meter }`
const PARTS = 'this.#parts = { store, clock, random, settings, upkeep: this.#housekeeping, meter: this.meter }'

export const ENGINE: readonly Canary[] = [
  {
    name: 'holders-forgotten-by-a-reload',
    file: memory,
    find: '    keepHolders(this.tables, before)\n',
    replace: '',
    breaks: 'invariant 10',
  },
  {
    name: 'refused-attach-not-heard',
    file: actor,
    find: "      if (request.command.op === 'attach') setHolder(this.tables, request.command.session.uuid, connection)\n",
    replace: '',
    breaks: 'invariant 15',
  },
  {
    name: 'acknowledged-before-commit',
    file: actor,
    find: '    const decided = failures.take(mail, now)\n',
    replace:
      "    for (const { connection, request } of mail) if (request.command.op === 'complete') this.#connections.post(connection, { replies: [{ id: request.id, value: true }] })\n    const decided = failures.take(mail, now)\n",
    breaks: 'invariant 3',
  },
  {
    name: 'pushed-before-commit',
    file: actor,
    find: PARTS,
    replace: beforeCommit(
      'for (const { seq, session, run } of effects.grants) this.#connections.post(session.connection, { grants: [{ seq, run, session: session.intro.uuid, attempt: run } as any] })',
    ),
    breaks: 'invariant 3',
  },
  {
    name: 'event-before-commit',
    file: actor,
    find: PARTS,
    replace: beforeCommit(
      'for (const connection of this.#connections.subscribed) this.#connections.post(connection, { events: effects.events.flatMap(({ type, job, run, attempt }: any, index: number) => job === undefined ? [] : [{ type, seq: mark.nextEvent - effects.events.length + index, jobSeq: job.seq, node: job.node, enqueuedAt: job.enqueuedAt, queue: job.lane.queue.name, name: job.lane.name, at: mark.at, run, attempt }]) })',
    ),
    breaks: 'invariant 3',
  },
  {
    name: 'commit-failure-refused',
    file: 'packages/engine/src/actor/failures.ts',
    find: "{ code: 'COMMIT_UNKNOWN', message }",
    replace: "{ code: 'STORAGE', message }",
    breaks: 'invariant 6',
  },
  {
    name: 'tables-kept-after-failure',
    file: memory,
    find: '      this.tables = loadTables(this.#store, alive, this.loadedAt)\n',
    replace: '      if (reopen !== undefined) this.tables = loadTables(this.#store, alive, this.loadedAt)\n',
    breaks: 'invariant 18',
  },
  {
    name: 'age-looked-at-with-the-next-end-only',
    file: 'packages/engine/src/actor/housekeeping.ts',
    find: 'return this.#more || this.#pruneMono <= now.mono ? this.#retention : undefined',
    replace: 'return this.#more ? this.#retention : undefined',
    breaks: 'invariant 30',
  },
  {
    name: 'connection-forgotten-at-reload',
    file: memory,
    find: 'if (session !== undefined) session.connection = connection',
    replace: 'void connection',
    breaks: 'invariant 15',
  },
  {
    name: 'watchers-forgotten-at-reload',
    file: 'packages/engine/src/actor/waiters/waiters.ts',
    find: '    this.results.recheck(store, tables.jobs, post)\n',
    replace: '',
    breaks: 'invariant 4',
  },
  {
    name: 'readers-forgotten-at-reload',
    file: 'packages/engine/src/actor/waiters/waiters.ts',
    find: '[...this.events.takeAll(), ...this.exports.takeAll()]',
    replace: '[...this.exports.takeAll()]',
    breaks: 'invariant 40',
  },
  {
    name: 'reader-waits-before-the-end',
    file: 'packages/engine/src/actor/waiters/events.ts',
    find: 'if (events.length > 0 || next < last) return { events, next }',
    replace: 'if (events.length > 0) return { events, next }',
    breaks: 'invariant 40',
  },
  {
    name: 'export-leaves-out-what-has-no-room',
    file: 'packages/engine/src/actor/waiters/exports.ts',
    find: 'next: seq - 1 }',
    replace: 'next: seq }',
    breaks: 'invariant 40',
  },
  {
    name: 'journal-without-a-bound-in-bytes',
    file: 'packages/engine/src/actor/housekeeping.ts',
    find: 'const surplus = taken > bytes ?',
    replace: 'const surplus = taken < 0 && taken > bytes ?',
    breaks: 'invariant 48',
  },
  {
    name: 'gap-not-told',
    file: 'packages/engine/src/actor/waiters/events.ts',
    find: 'if (after > 0 && first > after + 1) return',
    replace: 'if (after < 0) return',
    breaks: 'invariant 40',
  },
  {
    name: 'renewals-of-broken-connections-kept',
    file: actor,
    find: '    tables.renewals.delete(connection)\n',
    replace: '',
    breaks: 'invariant 49',
  },
  {
    name: 'results-nobody-waits-for-kept',
    file: 'packages/engine/src/actor/waiters/results.ts',
    find: '    if (others?.size === 0) this.#bySeq.delete(watch.id.seq)\n',
    replace: '',
    breaks: 'invariant 49',
  },
  {
    name: 'rows-of-an-earlier-turn-answer',
    file: 'packages/engine/src/actor/waiters/results.ts',
    find: '    this.#together.clear()\n',
    replace: '',
    breaks: 'invariant 49',
  },
  {
    name: 'timings-lead-to-lanes-of-before-a-reload',
    file: 'packages/engine/src/actor/timings/timings.ts',
    find: '    entry.queue = lane.queue.name\n',
    replace: '    entry.queue = lane.queue.name\n    ;(entry as any).lane ??= lane\n',
    breaks: 'invariant 49',
  },
]
