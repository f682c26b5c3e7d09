/** Bugs in the limits of keys. */
import type { Canary } from './canary.ts'

export const KEYS: readonly Canary[] = [
  {
    name: 'parked-jobs-forgotten',
    file: 'packages/core/src/kernel/records/keys.ts',
    find: ' run`)\n    this.lookAt(key)\n',
    replace: ' run`)\n',
    breaks: 'invariant 19',
  },
  {
    name: 'jobs-on-disk-counted-twice',
    file: 'packages/core/src/kernel/records/keys.ts',
    find: '    backlog.beyondWindow++\n    if (isFar(backlog)) this.#remember(backlog)\n  }\n\n  /** The job has left',
    replace: '    backlog.beyondWindow += 2\n    if (isFar(backlog)) this.#remember(backlog)\n  }\n\n  /** The job has left',
    breaks: 'invariant 49',
  },
  {
    name: 'dear-start-of-a-key-needs-one-token',
    file: 'packages/core/src/kernel/records/keyBacklog.ts',
    find: 'tokensOf(rate, key.fullMono, mono) >= tokensFor(job, rate) + others',
    replace: 'tokensOf(rate, key.fullMono, mono) > 0',
    breaks: 'invariant 24',
  },
  {
    name: 'idle-keys-kept',
    file: 'packages/core/src/kernel/records/keys.ts',
    find: 'if (idle && key.queue.keys?.get(key.text) === key) key',
    replace: 'if (idle && key.text.length === 0) key',
    breaks: 'invariant 49',
  },
]
