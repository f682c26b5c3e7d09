/** Bugs in workers. */
import type { Canary } from './canary.ts'

const worker = 'packages/worker/src/worker.ts'
const intake = 'packages/worker/src/intake.ts'
const batcher = 'packages/worker/src/batch/batcher.ts'

export const WORKER: readonly Canary[] = [
  {
    name: 'outcome-not-said-again',
    file: worker,
    find: '        if ((this.#runs.get(run.context.grant.seq) ?? (run.lapsed ? run : undefined)) === run) this.#sayOutcome(run, settlement)\n',
    replace: '        void settlement\n',
    breaks: 'invariant 19',
  },
  {
    name: 'held-runs-not-named',
    file: worker,
    find: 'const held = runs.sort((one, other) => one.seq - other.seq)',
    replace: 'const held = runs.sort((one, other) => one.seq - other.seq).slice(1)',
    breaks: 'invariant 15',
  },
  {
    name: 'lost-runs-go-on',
    file: worker,
    find: '        for (const key of lost) this.#lose(key)\n',
    replace: '        void lost\n',
    breaks: 'invariant 9',
  },
  {
    name: 'no-self-fencing',
    file: worker,
    find: 'if (run.settlement !== undefined || leaseMs(run.context.grant.heartbeatTimeout) > ms) continue',
    replace: 'if (ms >= 0) continue',
    breaks: 'invariant 9',
  },
  {
    name: 'batch-taken-twice',
    file: batcher,
    find: '    this.#collections.delete(key)\n',
    replace: '',
    breaks: 'invariant 9: what was handed to the handler is handed to it again',
  },
  {
    name: 'batch-keeps-the-aborted',
    file: batcher,
    find: 'const settle = runs?.get(context)\n',
    replace: 'const settle = [].at(0) as any\n',
    breaks: 'invariant 9: a run that was collected and is lost reaches the handler all the same',
  },
  {
    name: 'a-batch-of-all-keys',
    file: batcher,
    find: 'this.#settings.groupBy === undefined ? undefined : grant.concurrencyKey',
    replace: 'this.#settings.groupBy === undefined ? undefined : undefined',
    breaks: 'invariant 53',
  },
  {
    name: 'an-attach-ends-a-pause',
    file: 'packages/worker/src/intro.ts',
    find: '    ...announced,\n',
    replace: '    ...announced,\n    paused: false,\n',
    breaks: 'invariant 52',
  },
  {
    name: 'a-repeated-change-undoes-a-later-one',
    file: intake,
    find: 'session: this.#session, ...this.announced })',
    replace: 'session: this.#session, ...wanted })',
    breaks: 'invariant 52',
  },
  {
    name: 'a-pause-keeps-what-a-batch-has-collected',
    file: worker,
    find: 'this.#runnables.hold(this.#draining || this.#intake.paused)',
    replace: 'this.#runnables.hold(this.#draining)',
    breaks: 'invariant 52',
  },
]
