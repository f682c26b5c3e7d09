/**
 * Planted bugs. Each replaces one piece of a source file before it is run, in the run that asks for it alone: the product has no
 * trace of them. A simulator that does not find them all is not looking.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

export interface Canary {
  readonly name: string
  /** From the repository's root. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

const decide = 'packages/core/src/decide'
const actor = 'packages/engine/src/actor'

export const CANARIES: readonly Canary[] = [
  {
    name: 'no-fence',
    file: `${decide}/end.ts`,
    find: 'job.state === ACTIVE && job.run === run ? job : undefined',
    replace: 'job.state === ACTIVE ? job : undefined',
  },
  {
    name: 'fence-on-attempt',
    file: `${decide}/end.ts`,
    find: 'job.state === ACTIVE && job.run === run ? job : undefined',
    replace: 'job.state === ACTIVE && attemptOf(job) <= run ? job : undefined',
  },
  {
    name: 'answered-before-commit',
    file: `${actor}/actor.ts`,
    find: '    const decided = this.#decideSafely(mail, now)\n',
    replace:
      "    for (const { connection, request } of mail) if (request.command.op === 'complete') this.#post(connection, { replies: [{ id: request.id, value: true }] })\n    const decided = this.#decideSafely(mail, now)\n",
  },
  {
    name: 'alive-sessions-forgotten',
    file: 'packages/core/src/tables/load.ts',
    find: 'if (!alive.has(row.sessionUuid)) {',
    replace: 'if (alive.size >= 0) {',
  },
  {
    name: 'lost-wake-up-after-enqueue',
    file: 'packages/core/src/tables/tables.ts',
    find: 'else if (wasEmpty) for (const service of lane.services) service.markReady(lane)',
    replace: 'else if (wasEmpty && job.seq % 7 !== 0) for (const service of lane.services) service.markReady(lane)',
  },
  {
    name: 'lost-wake-up-after-completion',
    file: `${decide}/end.ts`,
    find: '  job.session = undefined\n  tables.weigh(session)\n',
    replace: '  job.session = undefined\n  if (job.seq % 5 !== 0) tables.weigh(session)\n',
  },
  {
    name: 'attempt-not-counted',
    file: `${decide}/start.ts`,
    find: '  job.run++\n',
    replace: '  job.run++\n  if (job.run > 1) job.uncounted++\n',
  },
  {
    name: 'given-back-counted',
    file: `${decide}/end.ts`,
    find: "  release(turn, job)\n  job.uncounted++\n  again(turn, job, 'giveBack', 0)",
    replace: "  release(turn, job)\n  again(turn, job, 'giveBack', 0)",
  },
  {
    name: 'unique-freed-while-running',
    file: `${decide}/start.ts`,
    find: "  effects.event('started', job)\n",
    replace:
      "  if (job.extras?.uniqueKey !== undefined) effects.uniqueFreed.push({ name: job.lane.name, key: job.extras.uniqueKey, seq: job.seq })\n  effects.event('started', job)\n",
  },
  {
    name: 'idempotency-key-forgotten',
    file: `${decide}/enqueue.ts`,
    find: '  effects.idempotency.push({ name',
    replace: '  if (job.seq % 3 !== 0) effects.idempotency.push({ name',
  },
  {
    name: 'commit-failure-refused',
    file: `${actor}/actor.ts`,
    find: "        code: 'COMMIT_UNKNOWN',\n",
    replace: "        code: 'STORAGE',\n",
  },
  {
    name: 'tables-kept-after-failure',
    file: `${actor}/actor.ts`,
    find: '      this.#tables = loadTables(this.store, alive, now)\n',
    replace: '      if (reopen !== undefined) this.#tables = loadTables(this.store, alive, now)\n',
  },
  {
    name: 'outcome-not-said-again',
    file: 'packages/worker/src/worker.ts',
    find: '        if (this.#runs.get(run.context.grant.seq) === run) this.#sayOutcome(run, settlement)\n',
    replace: '        this.#forget(run)\n',
  },
  {
    name: 'held-runs-not-named',
    file: 'packages/worker/src/worker.ts',
    find: 'const held = [...this.#runs.values()].map(',
    replace: 'const held = [...this.#runs.values()].slice(1).map(',
  },
  {
    name: 'cancel-forgotten',
    file: `${decide}/end.ts`,
    find: '  if (job.cancelRequested) {\n    endCancelled(turn, job, error)\n    return\n  }\n',
    replace: '',
  },
  {
    name: 'counters-drift',
    file: 'packages/core/src/effects.ts',
    find: '    this.count(job.lane, job.state, -1)\n',
    replace: "    if (transition !== 'promote' || job.seq % 3 !== 0) this.count(job.lane, job.state, -1)\n",
  },
  {
    name: 'backoff-ignored-early-start',
    file: `${decide}/end.ts`,
    find: '  if (delayMs > 0) {\n    effects.move(job, transition, SCHEDULED)',
    replace: '  if (delayMs > 25) {\n    effects.move(job, transition, SCHEDULED)',
  },
  {
    name: 'due-too-early',
    file: `${decide}/enqueue.ts`,
    find: 'runAt > now.wall ? SCHEDULED : WAITING,',
    replace: 'runAt > now.wall + 40 ? SCHEDULED : WAITING,',
  },
  {
    name: 'deadline-by-wall-clock',
    file: `${decide}/start.ts`,
    find: 'tables.setDeadline(job, now.mono + job.policy.timeout)',
    replace: 'tables.setDeadline(job, now.mono + job.policy.timeout + (now.wall % 100_000_000) * 0 + (now.wall < 1893456000000 ? 1e9 : 0))',
  },
  {
    name: 'failed-turn-left-behind',
    file: 'packages/sqlite/src/write/start-jobs.ts',
    find: '  return (jobs, at) => {\n    // Anew for each turn: one that fails must leave nothing to the next.\n    const bySession = new Map<number, number[]>()\n',
    replace: '  const bySession = new Map<number, number[]>()\n  return (jobs, at) => {\n',
  },
  {
    name: 'running-jobs-not-noted',
    file: 'packages/sqlite/src/journal.ts',
    find: "    if (type === 'started') running.add(seq)\n",
    replace: "    if (type === 'started' && seq % 4 !== 0) running.add(seq)\n",
  },
  {
    name: 'epoch-not-checked',
    file: 'packages/sqlite/src/write/mark.ts',
    find: 'if (owned.get(epoch) === undefined)',
    replace: 'if (owned.get(epoch) === undefined && epoch < 0)',
  },
]

/** From here on modules are loaded with the bug in them. */
export function plant(canary: Canary): void {
  const url = new URL(`../../${canary.file}`, import.meta.url)
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const places = source.split(canary.find).length - 1
  if (places !== 1) throw new Error(`canary ${canary.name}: what it replaces is in ${canary.file} ${places} times`)
  registerHooks({
    load: (loaded, context, next) => {
      if (loaded !== url.href) return next(loaded, context)
      return { format: 'module-typescript', source: source.replace(canary.find, () => canary.replace), shortCircuit: true }
    },
  })
}
