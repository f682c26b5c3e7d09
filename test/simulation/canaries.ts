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
  /** What it is expected to break; others may see it first. */
  readonly breaks: string
}

const decide = 'packages/core/src/decide'
const tables = 'packages/core/src/tables'
const actor = 'packages/engine/src/actor/actor.ts'
const worker = 'packages/worker/src/worker.ts'
const batcher = 'packages/worker/src/batch/batcher.ts'
const lease = 'packages/remote/src/client/lease.ts'
const forwarder = 'packages/client/src/forwarding/forwarder.ts'
const outbox = 'packages/outbox/src'

/** Does something with a turn's effects before they are written. */
const beforeCommit = (work: string) => `this.#parts = {
      store: Object.assign({}, store, {
        write: (effects: any, mark: any) => {
          ${work}
          store.write(effects, mark)
        },
      }) as any, clock, random, settings, housekeeping: this.#housekeeping, meter: this.meter }`
const PARTS = 'this.#parts = { store, clock, random, settings, housekeeping: this.#housekeeping, meter: this.meter }'

export const CANARIES: readonly Canary[] = [
  {
    name: 'no-fence',
    file: `${decide}/end.ts`,
    find: 'job.state === ACTIVE && job.run === run ? job : undefined',
    replace: 'job.state === ACTIVE ? job : undefined',
    breaks: 'invariant 10',
  },
  {
    name: 'fence-on-attempt',
    file: `${decide}/end.ts`,
    find: 'job.state === ACTIVE && job.run === run ? job : undefined',
    replace: 'job.state === ACTIVE && attemptOf(job) === run ? job : undefined',
    breaks: 'invariant 10',
  },
  {
    name: 'no-fence-on-checkpoint',
    file: `${decide}/heartbeat.ts`,
    find: '  const job = runOf(turn, command)\n  if (job === undefined) return stale(command.seq, command.run)\n  job.progress =',
    replace:
      '  const job = turn.tables.jobs.get(command.seq)\n  if (job === undefined || job.state !== 2) return stale(command.seq, command.run)\n  job.progress =',
    breaks: 'invariant 10',
  },
  {
    name: 'acknowledged-before-commit',
    file: actor,
    find: '    const decided = this.#decideSafely(mail, now)\n',
    replace:
      "    for (const { connection, request } of mail) if (request.command.op === 'complete') this.#post(connection, { replies: [{ id: request.id, value: true }] })\n    const decided = this.#decideSafely(mail, now)\n",
    breaks: 'invariant 3',
  },
  {
    name: 'pushed-before-commit',
    file: actor,
    find: PARTS,
    replace: beforeCommit(
      'for (const { seq, session, run } of effects.grants) this.#connections.get(session.connection)?.({ replies: [], notices: [], events: [], grants: [{ seq, run, session: session.intro.uuid, attempt: run } as any] })',
    ),
    breaks: 'invariant 3',
  },
  {
    name: 'event-before-commit',
    file: actor,
    find: PARTS,
    replace: beforeCommit(
      'for (const connection of this.#subscribed) this.#connections.get(connection)?.({ replies: [], notices: [], grants: [], events: effects.events.flatMap(({ type, job, run, attempt }: any, index: number) => job === undefined ? [] : [{ type, seq: mark.nextEvent - effects.events.length + index, jobSeq: job.seq, node: job.node, enqueuedAt: job.enqueuedAt, queue: job.lane.queue.name, name: job.lane.name, at: mark.at, run, attempt }]) })',
    ),
    breaks: 'invariant 3',
  },
  {
    name: 'failed-write-acknowledged',
    file: 'packages/sqlite/src/transaction.ts',
    find: '      throw undo(failureBefore(error))\n',
    replace: "      const failure = undo(failureBefore(error))\n      if (failure.reason !== 'io') throw failure\n      return\n",
    breaks: 'invariant 1',
  },
  {
    name: 'alive-sessions-forgotten',
    file: `${tables}/load.ts`,
    find: 'else if (alive.has(row.sessionUuid)) awaitAttach',
    replace: 'else if (alive.size < 0) awaitAttach',
    breaks: 'invariant 15',
  },
  {
    name: 'restart-without-grace',
    file: `${tables}/load.ts`,
    find: 'tables.setDeadline(job, now.mono + Math.max(leftMs, heartbeatTimeout, LIMITS.reattachGraceMs))',
    replace: 'tables.setDeadline(job, now.mono)',
    breaks: 'invariant 15',
  },
  {
    name: 'lost-wake-up-after-enqueue',
    file: `${tables}/tables.ts`,
    find: 'else if (lane.window.first === job) for (const service of lane.services) service.markReady(lane)',
    replace: 'else if (lane.window.first === job && job.seq % 7 !== 0) for (const service of lane.services) service.markReady(lane)',
    breaks: 'invariant 19',
  },
  {
    name: 'an-urgent-job-behind-what-was-first',
    file: `${tables}/readyLanes.ts`,
    find: '} else if (runsBefore(first, place)) this.#move(place, first)',
    replace: '}',
    breaks: 'invariant 21',
  },
  {
    name: 'lost-wake-up-after-completion',
    file: `${decide}/end.ts`,
    find: '  job.session = undefined\n  tables.weigh(session)\n',
    replace: '  job.session = undefined\n  if (job.seq % 5 !== 0) tables.weigh(session)\n',
    breaks: 'invariant 19',
  },
  {
    name: 'deadline-by-wall-clock',
    file: `${decide}/start.ts`,
    find: 'tables.setDeadline(job, now.mono + job.policy.timeout)',
    replace: 'tables.setDeadline(job, now.wall - 1893456000000 + job.policy.timeout)',
    breaks: 'invariant 14',
  },
  {
    name: 'due-without-state-check',
    file: `${decide}/elapse.ts`,
    find: 'if (job.state === SCHEDULED && job.runAt <= now.wall && !isDeleted(job)) promote(turn, job)',
    replace: 'if (job.runAt <= now.wall && !isDeleted(job)) promote(turn, job)',
    breaks: 'invariant 4',
  },
  {
    name: 'rescue-without-state-check',
    file: `${decide}/end.ts`,
    find: '  tables.doors.open(job.lane.queue)\n  tables.clearDeadline(job)\n',
    replace: '  tables.doors.open(job.lane.queue)\n',
    breaks: 'invariant 2',
  },
  {
    name: 'attempt-not-counted',
    file: `${decide}/start.ts`,
    find: '  job.run++\n',
    replace: '  job.run++\n  if (job.run > 1) job.uncounted++\n',
    breaks: 'invariant 11',
  },
  {
    name: 'run-used-again',
    file: `${decide}/end.ts`,
    find: "  job.uncounted++\n  again(turn, job, 'giveBack', 0)",
    replace: "  job.run--\n  again(turn, job, 'giveBack', 0)",
    breaks: 'invariant 10',
  },
  {
    name: 'given-back-counted',
    file: `${decide}/end.ts`,
    find: "  release(turn, job)\n  job.uncounted++\n  again(turn, job, 'giveBack', 0)",
    replace: "  release(turn, job)\n  again(turn, job, 'giveBack', 0)",
    breaks: 'invariant 11',
  },
  {
    name: 'one-attempt-too-many',
    file: `${decide}/end.ts`,
    find: 'attempt >= maxAttempts',
    replace: 'attempt > maxAttempts',
    breaks: 'invariant 11',
  },
  {
    name: 'unique-freed-while-running',
    file: `${decide}/start.ts`,
    find: "  effects.event('started', job)\n",
    replace:
      "  if (job.extras?.uniqueKey !== undefined) effects.uniqueFreed.push({ name: job.lane.name, key: job.extras.uniqueKey, seq: job.seq })\n  effects.event('started', job)\n",
    breaks: 'invariant 25',
  },
  {
    name: 'debounce-key-held-while-running',
    file: `${decide}/start.ts`,
    find: '  if (job.extras !== undefined) freeAtStart(turn, job)\n',
    replace: '',
    breaks: 'invariant 25',
  },
  {
    name: 'idempotency-key-forgotten',
    file: `${decide}/enqueue.ts`,
    find: '    if (first !== undefined) return answer(first, false)\n',
    replace: '    if (first !== undefined && job.unique === undefined) return answer(first, false)\n',
    breaks: 'invariant 25',
  },
  {
    name: 'idempotency-key-forgotten-before-its-job',
    file: 'packages/sqlite/src/read/keys.ts',
    find: " OR ${isKept('held')}`,",
    replace: '`,',
    breaks: 'invariant 25',
  },
  {
    name: 'dry-run-that-changes',
    file: `${decide}/many.ts`,
    find: '      if (!command.dryRun) change(turn, job)\n',
    replace: '      change(turn, job)\n',
    breaks: 'invariant 2',
  },
  {
    name: 'heartbeat-ignored',
    file: `${decide}/heartbeat.ts`,
    find: 'if (now.mono + heartbeatTimeout > job.deadlineMono) tables',
    replace: 'if (now.mono + heartbeatTimeout < job.deadlineMono - 1e9) tables',
    breaks: 'invariant 14',
  },
  {
    name: 'timeout-ignored',
    file: `${decide}/start.ts`,
    find: 'if (job.policy.timeout !== Number.POSITIVE_INFINITY) tables',
    replace: 'if (job.policy.timeout !== Number.POSITIVE_INFINITY && job.seq % 3 !== 0) tables',
    breaks: 'invariant 14',
  },
  {
    name: 'commit-failure-refused',
    file: actor,
    find: "{ code: 'COMMIT_UNKNOWN', message }",
    replace: "{ code: 'STORAGE', message }",
    breaks: 'invariant 6',
  },
  {
    name: 'tables-kept-after-failure',
    file: actor,
    find: '      this.#tables = loadTables(this.store, alive, this.#loaded)\n',
    replace: '      if (reopen !== undefined) this.#tables = loadTables(this.store, alive, this.#loaded)\n',
    breaks: 'invariant 18',
  },
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
    name: 'cancel-forgotten-at-end',
    file: `${decide}/end.ts`,
    find: '  if (job.cancelRequested) {\n    endCancelled(turn, job, error)\n    return\n  }\n',
    replace: '',
    breaks: 'invariant 2',
  },
  {
    name: 'cancel-lost-after-crash',
    file: `${tables}/tables.ts`,
    find: '    job.cancelRequested = row.cancelRequested\n',
    replace: '    job.cancelRequested = row.cancelRequested && job.state !== 2\n',
    breaks: 'invariant 2',
  },
  {
    name: 'counters-drift',
    file: 'packages/core/src/effects.ts',
    find: '    this.count(job.lane, job.state, -1)\n',
    replace: "    if (transition !== 'promote' || job.seq % 3 !== 0) this.count(job.lane, job.state, -1)\n",
    breaks: 'invariant 7',
  },
  {
    name: 'counters-kept-in-memory-alone',
    file: 'packages/core/src/effects.ts',
    find: '    lane.counted = true\n    this.countedLanes.push(lane)\n',
    replace: '    lane.counted = true\n    if (lane.id !== 2 || this.events.length !== 1) this.countedLanes.push(lane)\n',
    breaks: 'invariant 18',
  },
  {
    name: 'window-not-refilled',
    file: `${decide}/gather.ts`,
    find: '  if (tables.thirsty.size > 0) refill(store, tables)\n',
    replace: '  if (tables.thirsty.size > 1) refill(store, tables)\n',
    breaks: 'invariant 19',
  },
  {
    name: 'order-ignored',
    file: `${tables}/window.ts`,
    find: '  if (a.priority !== b.priority) return a.priority > b.priority\n',
    replace: '',
    breaks: 'invariant 21',
  },
  {
    name: 'order-between-names-ignored',
    file: `${tables}/readyLanes.ts`,
    find: 'new IndexedHeap<Place>(runsBefore, (place',
    replace: 'new IndexedHeap<Place>((one, other) => one.lane.id < other.lane.id, (place',
    breaks: 'invariant 21',
  },
  {
    name: 'retried-however-old',
    file: `${decide}/end.ts`,
    find: 'if (over || turn.now.wall + delayMs > job.enqueuedAt + maxAge) {',
    replace: 'if (over) {',
    breaks: 'invariant 11',
  },
  {
    name: 'age-counted-twice',
    file: `${decide}/end.ts`,
    find: 'turn.now.wall + delayMs > job.enqueuedAt + maxAge',
    replace: 'turn.now.wall + 2 * delayMs > job.enqueuedAt + maxAge',
    breaks: 'invariant 16',
  },
  {
    name: 'backoff-ignored',
    file: `${decide}/end.ts`,
    find: 'retry ?? backoffDelay(backoff, attempt, turn.random())',
    replace: 'retry ?? 0',
    breaks: 'invariant 22',
  },
  {
    name: 'due-too-early',
    file: `${decide}/enqueue.ts`,
    find: 'runAt > now.wall ? SCHEDULED : WAITING,',
    replace: 'runAt > now.wall + 40 ? SCHEDULED : WAITING,',
    breaks: 'invariant 22',
  },
  {
    name: 'expired-job-run',
    file: `${decide}/dispatch.ts`,
    find: 'if (head.expiresAt !== 0 && head.expiresAt <= turn.now.wall) {',
    replace: 'if (head.expiresAt !== 0 && head.expiresAt <= turn.now.wall - 1e9) {',
    breaks: 'invariant 22',
  },
  {
    name: 'pruned-job-still-counted',
    file: `${decide}/elapse.ts`,
    find: '  effects.count(lane, state, -1)\n  effects.pruned',
    replace: '  if (seq % 3 !== 0) effects.count(lane, state, -1)\n  effects.pruned',
    breaks: 'invariant 7',
  },
  {
    name: 'pruned-before-its-age',
    file: `${decide}/gather.ts`,
    find: 'now.wall - keep.ageMs, room, exported)',
    replace: 'now.wall - keep.ageMs / 2, room, exported)',
    breaks: 'invariant 30',
  },
  {
    name: 'all-pruned-where-one-is-too-many',
    file: `${decide}/gather.ts`,
    find: 'now.wall + 1, Math.min(surplus, room), exported)',
    replace: 'now.wall + 1, room, exported)',
    breaks: 'invariant 30',
  },
  {
    name: 'age-looked-at-with-the-next-end-only',
    file: 'packages/engine/src/actor/housekeeping.ts',
    find: 'return this.#more || this.#pruneMono <= now.mono ? this.#retention : undefined',
    replace: 'return this.#more ? this.#retention : undefined',
    breaks: 'invariant 30',
  },
  {
    name: 'pruned-by-the-engines-setting-alone',
    file: `${decide}/gather.ts`,
    find: 'finalStates(retentionOf(retention, queue.settings))',
    replace: 'finalStates(retention)',
    breaks: 'invariant 30',
  },
  {
    name: 'gone-at-the-end-by-the-engines-setting-alone',
    file: `${decide}/end.ts`,
    find: 'return retentionOf(settings.retention, lane.queue.settings)',
    replace: 'return settings.retention',
    breaks: 'invariant 30',
  },
  {
    name: 'search-skips-where-a-page-ends',
    file: 'packages/sqlite/src/read/search.ts',
    find: '      next = seq\n',
    replace: '      next = seq - 1\n',
    breaks: 'invariant 28',
  },
  {
    name: 'flow-page-skips-a-job',
    file: 'packages/sqlite/src/read/flowJobs.ts',
    find: 'return { rows, next: { seq, place: 0 } }',
    replace: 'return { rows, next: { seq: seq + 1, place: 0 } }',
    breaks: 'invariant 28',
  },
  {
    name: 'child-past-the-codec',
    file: 'packages/client/src/seal.ts',
    find: '...(enqueues && { enqueues: this.sealJobs(enqueues) })',
    replace: '...(enqueues && { enqueues })',
    breaks: 'invariant 34',
  },
  {
    name: 'batch-callback-forgets-one',
    file: 'packages/client/src/flow.ts',
    find: 'dependsOn: nodes.map(({ ref }) => ref), onParentFailure',
    replace: 'dependsOn: nodes.slice(1).map(({ ref }) => ref), onParentFailure',
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
    name: 'failed-turn-left-behind',
    file: 'packages/sqlite/src/write/start-jobs.ts',
    find: '  return (jobs, at) => {\n    // Anew for each turn: one that fails must leave nothing to the next.\n    const bySession = new Map<number, number[]>()\n',
    replace: '  const bySession = new Map<number, number[]>()\n  return (jobs, at) => {\n',
    breaks: 'invariant 2',
  },
  {
    name: 'stop-forgotten-at-attach',
    file: `${decide}/attach.ts`,
    find: 'if (before?.stopMs !== undefined) stopSession',
    replace: 'if (before?.stopMs !== undefined && held.length < 0) stopSession',
    breaks: 'invariant 44',
  },
  {
    name: 'remote-sessions-forgotten',
    file: `${tables}/load.ts`,
    find: 'if (row.remote) keepAway(tables, row, job, now)',
    replace: 'if (row.remote && job.seq < 0) keepAway(tables, row, job, now)',
    breaks: 'invariant 15',
  },
  {
    name: 'connection-forgotten-at-reload',
    file: actor,
    find: 'if (session !== undefined) session.connection = connection',
    replace: 'void connection',
    breaks: 'invariant 15',
  },
  {
    name: 'lease-by-wall-clock',
    file: `${decide}/lease.ts`,
    find: 'session.renewedMono = now.mono',
    replace: 'session.renewedMono = now.wall - 1893456000000',
    breaks: 'invariant 15',
  },
  {
    name: 'renewal-ignored',
    file: `${decide}/lease.ts`,
    find: '    session.renewedMono = now.mono\n',
    replace: '',
    breaks: 'invariant 15',
  },
  {
    name: 'no-self-fencing',
    file: worker,
    find: 'if (run.settlement !== undefined || leaseMs(run.context.grant.heartbeatTimeout) > ms) continue',
    replace: 'if (ms >= 0) continue',
    breaks: 'invariant 9',
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
    name: 'running-jobs-not-noted',
    file: 'packages/sqlite/src/journal.ts',
    find: "    if (type === 'started') running.add(seq)\n",
    replace: "    if (type === 'started' && seq % 4 !== 0) running.add(seq)\n",
    breaks: 'invariant 18',
  },
  {
    name: 'epoch-not-checked',
    file: 'packages/sqlite/src/write/mark.ts',
    find: 'if (owned.get(epoch) === undefined)',
    replace: 'if (owned.get(epoch) === undefined && epoch < 0)',
    breaks: 'invariant 8',
  },
  {
    name: 'watchers-forgotten-at-reload',
    file: actor,
    find: '    this.watches.recheck(this.store, (connection, reply) => this.#post(connection, { replies: [reply] }))\n',
    replace: '',
    breaks: 'invariant 4',
  },
  {
    name: 'readers-forgotten-at-reload',
    file: actor,
    find: '[...this.followers.takeAll(), ...this.exporters.takeAll()]',
    replace: '[...this.exporters.takeAll()]',
    breaks: 'invariant 40',
  },
  {
    name: 'reader-waits-before-the-end',
    file: 'packages/engine/src/actor/followers.ts',
    find: 'if (events.length > 0 || next < last) return { events, next }',
    replace: 'if (events.length > 0) return { events, next }',
    breaks: 'invariant 40',
  },
  {
    name: 'reader-asks-again-from-the-page-before',
    file: 'packages/client/src/following.ts',
    find: '        after = next\n',
    replace: '        if (events.length !== 1) after = next\n',
    breaks: 'invariant 40',
  },
  {
    name: 'export-not-waited-for',
    file: `${decide}/gather.ts`,
    find: '  if (exports.size === 0) return undefined\n',
    replace: '  if (exports.size < 99) return undefined\n',
    breaks: 'invariant 2',
  },
  {
    name: 'export-confirmed-when-it-is-sent',
    file: `${decide}/export.ts`,
    find: 'Math.min(upTo ?? 0, tables.nextEvent - 1)',
    replace: 'upTo === undefined ? 0 : tables.nextEvent - 1',
    breaks: 'invariant 2',
  },
  {
    name: 'export-leaves-out-what-has-no-room',
    file: 'packages/engine/src/actor/exporters.ts',
    find: 'next: seq - 1 }',
    replace: 'next: seq }',
    breaks: 'invariant 40',
  },
  {
    name: 'mark-not-kept',
    file: `${decide}/forward.ts`,
    find: '    effects.marks.push({ source, mark })\n',
    replace: '',
    breaks: 'invariant 25',
  },
  {
    name: 'mark-passes-what-is-refused',
    file: `${decide}/forward.ts`,
    find: '      refused = { place, refusal }\n      break\n',
    replace: '      refused ??= { place, refusal }\n      mark = next - 1\n      continue\n',
    breaks: 'invariant 1',
  },
  {
    name: 'journal-dropped-before-it-is-forwarded',
    file: forwarder,
    find: '    await this.#forward(chunk)\n    await log.drop(chunk)\n',
    replace: '    await log.drop(chunk)\n    await this.#forward(chunk)\n',
    breaks: 'invariant 1',
  },
  {
    name: 'tick-not-written-with-its-job',
    file: `${decide}/schedules/fire.ts`,
    find: "  schedule.fired++\n  turn.effects.schedule(schedule, 'move')",
    replace: '  schedule.fired++',
    breaks: 'invariant 23',
  },
  {
    name: 'next-tick-from-now',
    file: `${decide}/schedules/fire.ts`,
    find: 'next: tickAfter(schedule, nextAt, turn.settings.calendar)',
    replace: 'next: turn.now.wall + (schedule.spec.every ?? 0)',
    breaks: 'invariant 23',
  },
  {
    name: 'held-tick-forgotten',
    file: `${decide}/end.ts`,
    find: 'turn.tables.freed.add(job.extras.schedule)',
    replace: '{}',
    breaks: 'invariant 23',
  },
  {
    name: 'freed-schedules-not-loaded',
    file: `${tables}/tables.ts`,
    find: 'this.freed = new Set(loaded.freed)',
    replace: 'this.freed = new Set()',
    breaks: 'invariant 23',
  },
  {
    name: 'tick-after-a-clock-set-back',
    file: `${decide}/schedules/upsert.ts`,
    find: 'Math.max(turn.now.wall, schedule.lastAt)',
    replace: 'turn.now.wall',
    breaks: 'invariant 23',
  },
  {
    name: 'cron-before-its-beginning',
    file: 'packages/core/src/schedule.ts',
    find: 'Math.max(after, startAt - 1)',
    replace: 'after + 0 * startAt',
    breaks: 'invariant 23',
  },
  {
    name: 'interval-from-the-creation',
    file: `${decide}/schedules/upsert.ts`,
    find: 'anchor: spec.startAt ?? now.wall',
    replace: 'anchor: Math.max(spec.startAt ?? 0, now.wall)',
    breaks: 'invariant 23',
  },
  {
    name: 'released-by-the-first-parent',
    file: `${decide}/tell.ts`,
    find: 'job.state === BLOCKED && gate.pending === 0',
    replace: 'job.state === BLOCKED && gate.pending <= 1',
    breaks: 'invariant 26',
  },
  {
    name: 'children-behind-a-slice-forgotten',
    file: `${decide}/tell.ts`,
    find: 'if (!done && last !== undefined) return',
    replace: 'if (!done && last === undefined) return',
    breaks: 'invariant 20',
  },
  {
    name: 'failures-not-told-to-children',
    file: `${decide}/end.ts`,
    find: '  if (job.extras !== undefined) tellLater(turn, job)',
    replace: '  if (job.extras !== undefined && to === COMPLETED) tellLater(turn, job)',
    breaks: 'invariant 20',
  },
  {
    name: 'parent-failure-ignored',
    file: `${decide}/tell.ts`,
    find: "job.extras?.flow?.onFailure === 'fail' && gate.failed > 0",
    replace: "job.extras?.flow?.onFailure === 'fail' && gate.failed > 1",
    breaks: 'invariant 26',
  },
  {
    name: 'refusal-not-noted-before-the-mark',
    file: forwarder,
    find: 'await refusals.note(source, place, entry, refusal)',
    replace: 'void refusals.note(source, place, entry, refusal).catch(() => {})',
    breaks: 'invariant 1',
  },
  {
    name: 'limit-one-over',
    file: `${decide}/dispatch.ts`,
    find: 'countOf(queue, ACTIVE) >= concurrencyLimit',
    replace: 'countOf(queue, ACTIVE) > concurrencyLimit',
    breaks: 'invariant 24',
  },
  {
    name: 'key-limit-one-over',
    file: `${decide}/dispatch.ts`,
    find: 'gate !== undefined && roomOf(gate.key, now.mono) <= 0 ? gate : undefined',
    replace: 'gate !== undefined && roomOf(gate.key, now.mono) < 0 ? gate : undefined',
    breaks: 'invariant 24',
  },
  {
    name: 'parked-jobs-forgotten',
    file: `${tables}/keys.ts`,
    find: '    key.active--\n    this.lookAt(key)\n',
    replace: '    key.active--\n',
    breaks: 'invariant 19',
  },
  {
    name: 'bucket-full-after-a-restart',
    file: `${tables}/tables.ts`,
    find: 'queue.fullMono = fullMonoOf(missingMs, missingAt, now)',
    replace: 'queue.fullMono = now.mono',
    breaks: 'invariant 24',
  },
  {
    name: 'key-bucket-full-after-a-restart',
    file: `${tables}/load.ts`,
    find: 'fullMonoOf(missingMs, missingAt, now)',
    replace: 'now.mono + 0 * (missingMs + missingAt + fullMonoOf.length)',
    breaks: 'invariant 24',
  },
  {
    name: 'token-of-a-key-not-taken',
    file: `${decide}/start.ts`,
    find: '  tables.keys.buckets.take(key, rate, now.mono)\n',
    replace: '  if (job.seq % 3 !== 0) tables.keys.buckets.take(key, rate, now.mono)\n',
    breaks: 'invariant 24',
  },
  {
    name: 'newcomer-before-those-parked',
    file: `${decide}/line.ts`,
    find: '(mayStand && gate.parked === 0)',
    replace: 'mayStand',
    breaks: 'invariant 24',
  },
  {
    name: 'latest-of-a-key-first',
    file: 'packages/sqlite/src/read/turns.ts',
    find: 'gate < 0 ORDER BY seq LIMIT 1',
    replace: 'gate < 0 ORDER BY seq DESC LIMIT 1',
    breaks: 'invariant 24',
  },
  {
    name: 'turn-over-at-a-retry',
    file: `${decide}/end.ts`,
    find: "  if (transition !== 'giveBack') job.runAt = now.wall + delayMs\n",
    replace: "  if (transition !== 'giveBack') job.runAt = now.wall + delayMs\n  endTurn(turn, job)\n",
    breaks: 'invariant 24',
  },
  {
    name: 'turn-not-asked-for',
    file: `${decide}/line.ts`,
    find: '  if (isStrict(gate)) tables.keys.turns.add(gate.key)\n',
    replace: '  if (isStrict(gate) && job.seq % 3 !== 0) tables.keys.turns.add(gate.key)\n',
    breaks: 'invariant 19',
  },
  {
    name: 'drop-newest',
    file: 'packages/sqlite/src/read/arrivals.ts',
    find: 'ORDER BY job.seq LIMIT ?',
    replace: 'ORDER BY job.seq DESC LIMIT ?',
    breaks: 'invariant 24',
  },
  {
    name: 'drop-beyond-need',
    file: `${decide}/drop.ts`,
    find: 'Math.min(count, lengthOf(queue) - maxLength); surplus > 0',
    replace: 'Math.min(count, lengthOf(queue) - maxLength + 1); surplus > 0',
    breaks: 'invariant 24',
  },
  {
    name: 'share-one-over',
    file: `${tables}/service.ts`,
    find: '++this.#inARow < (queue.settings.share ?? 1)',
    replace: '++this.#inARow <= (queue.settings.share ?? 1)',
    breaks: 'invariant 24',
  },
  {
    name: 'turn-ended-by-other-workers',
    file: `${tables}/service.ts`,
    find: '    if (++this.#inARow < (queue.settings.share ?? 1)) return\n    this.#inARow = 0\n',
    replace:
      '    const shared = queue as any\n    shared.served = (shared.served ?? 0) + 1\n    if (shared.served < (queue.settings.share ?? 1)) return\n    shared.served = 0\n',
    breaks: 'invariant 24',
  },
  {
    name: 'pause-not-kept',
    file: `${decide}/queues.ts`,
    find: '    else tables.doors.open(queue)\n    effects.noteQueue(queue)\n',
    replace: '    else tables.doors.open(queue)\n',
    breaks: 'invariant 18',
  },
  {
    name: 'pause-of-all-not-kept',
    file: `${decide}/queues.ts`,
    find: '  effects.paused = paused\n',
    replace: '',
    breaks: 'invariant 18',
  },
  {
    name: 'pause-of-all-forgotten-with-a-restart',
    file: `${tables}/tables.ts`,
    find: 'this.paused = loaded.paused',
    replace: 'this.paused = false',
    breaks: 'invariant 18 or 24',
  },
  {
    name: 'configured-not-told',
    file: `${decide}/queues.ts`,
    find: '  if (!sameSettings(before, queue.settings)) turn.effects',
    replace: '  if (!sameSettings(before, queue.settings) && changes.rateLimit === undefined) turn.effects',
    breaks: 'invariant 40',
  },
  {
    name: 'workers-forgotten-with-a-restart',
    file: `${tables}/load.ts`,
    find: 'for (const row of loaded.present) addPresent',
    replace: 'for (const row of loaded.present.slice(0, 0)) addPresent',
    breaks: 'invariant 18',
  },
  {
    name: 'skipped-tick-not-told',
    file: `${decide}/schedules/fire.ts`,
    find: "    turn.effects.news({ type: 'schedule.skipped', schedule: schedule.id, tick, reason })\n",
    replace: "    if (reason !== 'overlap') turn.effects.news({ type: 'schedule.skipped', schedule: schedule.id, tick, reason })\n",
    breaks: 'invariant 40',
  },
  {
    name: 'batch-taken-twice',
    file: batcher,
    find: '    this.#collected.clear()\n',
    replace: '',
    breaks: 'invariant 9: what was handed to the handler is handed to it again',
  },
  {
    name: 'batch-keeps-the-aborted',
    file: batcher,
    find: 'const settle = this.#collected.get(context)\n',
    replace: 'const settle = [].at(0) as any\n',
    breaks: 'invariant 9: a run that was collected and is lost reaches the handler all the same',
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
  {
    name: 'journal-forgets-who-runs',
    file: 'packages/sqlite/src/write/running.ts',
    find: ' && forgetEventsBefore <= event) return',
    replace: ') return',
    breaks: 'invariant 18',
  },
  {
    name: 'gap-not-told',
    file: 'packages/engine/src/actor/followers.ts',
    find: 'if (after > 0 && first > after + 1) return',
    replace: 'if (after < 0) return',
    breaks: 'invariant 40',
  },
  {
    name: 'held-key-forgotten',
    file: 'packages/sqlite/src/write/prune.ts',
    find: 'WHERE expires_at <= ? ORDER BY',
    replace: 'WHERE expires_at <= ? + 600000 ORDER BY',
    breaks: 'invariant 25',
  },
  {
    name: 'crowded-window-holds-none',
    file: `${tables}/windowShare.ts`,
    find: 'Math.max(1, Math.min(CROWDED_JOBS',
    replace: 'Math.max(0, Math.min(CROWDED_JOBS',
    breaks: 'invariant 19',
  },
  {
    name: 'silent-session-stays',
    file: `${decide}/lease.ts`,
    find: 'nextMono = session.renewedMono + LIMITS.leaseMs',
    replace: 'nextMono = now.mono + LIMITS.leaseMs',
    breaks: 'invariant 40',
  },
]

/** What a canary changes; throws where there is not exactly one place for it. */
export function planted({ name, file, find, replace }: Canary): { readonly url: string; readonly source: string } {
  const url = new URL(`../../${file}`, import.meta.url)
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`canary ${name}: what it replaces is in ${file} ${places} times`)
  return { url: url.href, source: source.replace(find, () => replace) }
}

/** From here on modules are loaded with the bug in them: to be called before the engine is. */
export function plant(canary: Canary): void {
  const { url, source } = planted(canary)
  registerHooks({
    load: (loaded, context, next) => (loaded === url ? { format: 'module-typescript', source, shortCircuit: true } : next(loaded, context)),
  })
}
