/** Bugs in sessions of workers, and in definitions. */
import type { Canary } from './canary.ts'

const sessions = 'packages/core/src/kernel/sessions'

export const SESSIONS: readonly Canary[] = [
  {
    name: 'uuid-told-to-readers',
    file: `${sessions}/presence.ts`,
    find: 'worker: known.worker, session: String(known.id) })',
    replace: 'worker: known.worker, session: uuid })',
    breaks: 'invariant 54',
  },
  {
    name: 'runs-of-others-adopted',
    file: `${sessions}/attach.ts`,
    find: ' && mine.delete(job))',
    replace: ' && (mine.delete(job) || true))',
    breaks: 'invariant 54',
  },
  {
    name: 'attached-by-another-connection-not-noted',
    file: `${sessions}/attach.ts`,
    find: '  session.holder = connection\n',
    replace: '  session.holder = before?.holder ?? connection\n',
    breaks: 'invariant 10',
  },
  {
    name: 'jobs-before-their-definition-stay-as-they-are',
    file: `${sessions}/settle.ts`,
    find: '    settle(turn, job, definition)\n    settling.left--',
    replace: '    settling.left--',
    breaks: 'invariant 45',
  },
  {
    name: 'served-before-it-is-settled',
    file: `${sessions}/definitions.ts`,
    find: 'return this.settling.has(name) || this.settled.has(name)',
    replace: 'return this.settling.has(name) && this.settled.has(name)',
    breaks: 'invariant 45',
  },
  {
    name: 'the-last-word-is-in-force',
    file: `${sessions}/define.ts`,
    find: 'if (first !== undefined && !voters.some(isInForce) && !isAwaited(tables, first.intro.local)) putInForce(turn, name, first)',
    replace: 'if (first !== undefined) putInForce(turn, name, sessions.at(-1) as Session)',
    breaks: 'invariant 46',
  },
  {
    name: 'overruled-while-awaited',
    file: `${sessions}/define.ts`,
    find: ' && !isAwaited(tables, first.intro.local)',
    replace: '',
    breaks: 'invariant 46',
  },
  {
    name: 'stop-forgotten-at-attach',
    file: `${sessions}/attach.ts`,
    find: 'if (before?.stopMs !== undefined) stopSession',
    replace: 'if (before?.stopMs !== undefined && held.length < 0) stopSession',
    breaks: 'invariant 44',
  },
  {
    name: 'lease-by-wall-clock',
    file: `${sessions}/renew.ts`,
    find: 'session.renewedMono = now.mono',
    replace: 'session.renewedMono = now.wall - 1893456000000',
    breaks: 'invariant 15',
  },
  {
    name: 'renewal-ignored',
    file: `${sessions}/renew.ts`,
    find: '    session.renewedMono = now.mono\n',
    replace: '',
    breaks: 'invariant 15',
  },
  {
    name: 'share-one-over',
    file: `${sessions}/consumerGroup.ts`,
    find: '++this.#inARow < (queue.settings.share ?? 1)',
    replace: '++this.#inARow <= (queue.settings.share ?? 1)',
    breaks: 'invariant 24',
  },
  {
    name: 'turn-ended-by-other-workers',
    file: `${sessions}/consumerGroup.ts`,
    find: '    if (++this.#inARow < (queue.settings.share ?? 1)) return\n    this.#inARow = 0\n',
    replace:
      '    const shared = queue as any\n    shared.served = (shared.served ?? 0) + 1\n    if (shared.served < (queue.settings.share ?? 1)) return\n    shared.served = 0\n',
    breaks: 'invariant 24',
  },
  {
    name: 'queues-of-a-strict-order-take-turns',
    file: `${sessions}/consumerGroup.ts`,
    find: 'this.isStrict ? this.placeOf(queue.name) : 0',
    replace: 'this.isStrict ? this.placeOf(this.key) : 0',
    breaks: 'invariant 24',
  },
  {
    name: 'prefix-of-queues-not-served',
    file: `${sessions}/servedQueues.ts`,
    find: 'queue.startsWith(prefix)',
    replace: 'queue === prefix',
    breaks: 'invariant 20',
  },
  {
    name: 'names-before-earlier-prefixes',
    file: `${sessions}/servedQueues.ts`,
    find: 'return named === undefined || first === undefined ? (named ?? first) : Math.min(named, first)',
    replace: 'return named ?? (first === undefined ? undefined : Math.min(first, this.#prefixes.length))',
    breaks: 'invariant 24',
  },
  {
    name: 'silent-session-stays',
    file: `${sessions}/renew.ts`,
    find: 'nextMono = session.renewedMono + LIMITS.leaseMs',
    replace: 'nextMono = now.mono + LIMITS.leaseMs',
    breaks: 'invariant 40',
  },
  {
    name: 'a-paused-session-is-filled',
    file: `${sessions}/session.ts`,
    find: ' && intro.paused !== true',
    replace: '',
    breaks: 'invariant 52',
  },
  {
    name: 'a-new-concurrency-is-not-heard',
    file: `${sessions}/adjust.ts`,
    find: '{ ...session.intro, minConcurrency, maxConcurrency, paused }',
    replace: '{ ...session.intro, paused }',
    breaks: 'invariant 52',
  },
]
