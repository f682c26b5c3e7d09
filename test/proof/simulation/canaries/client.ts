/** Bugs in clients, connections and the outbox. */
import type { Canary } from './canary.ts'

const lease = 'packages/remote/src/client/lease.ts'
const forwarder = 'packages/client/src/forwarding/forwarder.ts'
const outbox = 'packages/outbox/src'

export const CLIENT: readonly Canary[] = [
  {
    name: 'child-past-the-codec',
    file: 'packages/client/src/payloadCodec.ts',
    find: '...(enqueues && { enqueues: this.encodeJobs(enqueues) })',
    replace: '...(enqueues && { enqueues })',
    breaks: 'invariant 34',
  },
  {
    name: 'batch-callback-forgets-one',
    file: 'packages/client/src/flow.ts',
    find: 'const dependsOn = nodes.map(({ ref }) => ref)',
    replace: 'const dependsOn = nodes.slice(1).map(({ ref }) => ref)',
    breaks: 'invariant 26',
  },
  {
    name: 'shown-twice-fires-twice',
    file: 'packages/client/src/calendar/calendar.ts',
    find: 'nextMatch(cron, zone.shownUntil(after))\n    return wall === undefined ? 0 : zone.firstShows(wall)',
    replace: 'nextMatch(cron, after + zone.offset(after))\n    return wall === undefined ? 0 : wall - zone.offset(after)',
    breaks: 'invariant 23',
  },
  {
    name: 'self-fencing-from-receipt',
    file: lease,
    find: 'this.#knownMono = this.#counted.sentMono\n',
    replace: 'this.#knownMono = this.#options.clock.read().mono\n',
    breaks: 'invariant 9',
  },
  {
    name: 'late-push-started',
    file: lease,
    find: 'if (age >= MARGIN * lease) late',
    replace: 'if (age >= 1e9 * lease) late',
    breaks: 'invariant 9',
  },
  {
    name: 'no-renewals',
    file: lease,
    find: 'if (mono >= this.#renewMono) this.#options.send',
    replace: 'if (mono < 0) this.#options.send',
    breaks: 'invariant 11',
  },
  {
    name: 'reader-asks-again-from-the-page-before',
    file: 'packages/client/src/following.ts',
    find: '        after = next\n',
    replace: '        if (events.length !== 1) after = next\n',
    breaks: 'invariant 40',
  },
  {
    name: 'journal-dropped-before-it-is-forwarded',
    file: forwarder,
    find: '    await this.#forward(chunk)\n    await log.drop(chunk)\n',
    replace: '    await log.drop(chunk)\n    await this.#forward(chunk)\n',
    breaks: 'invariant 1',
  },
  {
    name: 'refusal-not-noted-before-the-mark',
    file: forwarder,
    find: 'await refusals.note(source, place, entry, refusal)',
    replace: 'void refusals.note(source, place, entry, refusal).catch(() => {})',
    breaks: 'invariant 1',
  },
  {
    name: 'gathered-calls-forgotten',
    file: 'packages/client/src/mailbox.ts',
    find: '    if (this.#gathered) this.#flush()\n',
    replace: '',
    breaks: 'invariant 4',
  },
  {
    name: 'outbox-rows-deleted-before-the-answer',
    file: `${outbox}/log.ts`,
    find: '      const [first, last] = [rows[0], rows.at(-1)]\n',
    replace:
      '      const [first, last] = [rows[0], rows.at(-1)]\n      if (first && last) this.#table.forget(first.source, first.place, last.place)\n',
    breaks: 'invariant 1',
  },
  {
    name: 'outbox-rows-sent-before-the-commit',
    file: `${outbox}/log.ts`,
    find: 'if (!inTransaction(this.#connection)) return work()',
    replace: 'return work()',
    breaks: 'invariant 6',
  },
  {
    name: 'outbox-sends-all-as-its-latest-source',
    file: `${outbox}/outbox.ts`,
    find: 'this.#line.call(command).then',
    replace: 'this.#line.call({ ...command, source: this.#source.uuid }).then',
    breaks: 'invariant 25',
  },
  {
    name: 'outbox-rows-of-the-dead-forgotten',
    file: `${outbox}/log.ts`,
    find: 'this.#left = this.#table.newest()',
    replace: 'this.#left = 0',
    breaks: 'invariant 19',
  },
]
