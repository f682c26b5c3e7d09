/** Adds rows that a test must not change: one of each state, in two lanes, with keys, tags, runs and logs. */
import { CANCELLED, DEFAULT_POLICY, FAILED } from '@millrace/core'
import { COUNTER_PENDING, DELETED, NOTIFY, newKey } from '@millrace/core/kernel'
import type { Turns } from './jobs.ts'
import { PLAIN, scheduleOf } from './schedules.ts'

const { maxAttempts, timeout, heartbeatTimeout, backoff } = DEFAULT_POLICY
const KEPT = JSON.stringify({ maxAttempts, timeout, heartbeatTimeout, backoff, keep: 3_600_000 })

export function addBystanders(turns: Turns): void {
  const { effects } = turns
  const session = turns.session('bystander')
  effects.presence.push({ id: session.id, presence: 'draining' })
  for (const lane of [turns.lane('stand', 'by'), turns.lane('work')]) {
    const extras = { tags: ['red', lane.name], uniqueKey: `u-${lane.name}`, idempotencyKey: `i-${lane.name}` }
    const waiting = turns.insert({ lane, extras })
    effects.uniqueHeld.push({ name: lane.name, key: extras.uniqueKey, seq: waiting.seq })
    effects.idempotency.push({ name: lane.name, key: extras.idempotencyKey, job: waiting, expiresAt: turns.at + 1_000 })
    turns.insert({ lane, runAt: turns.at + 60_000, expiresAt: turns.at + 90_000 })
    turns.start(turns.insert({ lane }), session)
    for (const state of [FAILED, CANCELLED] as const) {
      const job = turns.insert({ lane, ...(state === CANCELLED && lane.name === 'work' && { policy: KEPT }) })
      job.finishedAt = turns.at
      job.dropped = state === CANCELLED && lane.queue.name === 'by'
      turns.move(job, state)
      const cause = [{ name: 'Error', message: 'refused', code: 'ECONNREFUSED' }]
      const error = { name: 'Error', message: 'no', code: 'E_NO', cause }
      effects.runs.push({ seq: job.seq, run: 1, attempt: 1, startedAt: turns.at, endedAt: turns.at, worker: 'w', error })
      if (state === FAILED) effects.failures.push({ job, run: 1, error: error.name, fingerprint: 7 })
      effects.logs.push({ seq: job.seq, run: 1, number: 0, gone: -1, line: { at: turns.at, level: 'info', message: 'hello' } })
    }
    const completed = turns.insert({ lane })
    turns.start(completed, session)
    turns.complete(completed, '"done"')
  }
  const { queue } = turns.lane('stand', 'by')
  Object.assign(queue, {
    settings: { concurrencyLimit: 9, maxLength: 100, onFull: 'drop-oldest', defaults: { timeout: Number.POSITIVE_INFINITY } },
    paused: true,
    fullMono: 1_500,
  })
  effects.noteQueue(queue)
  effects.noteKey({ ...newKey(queue, 'by'), paused: true })
  effects.pauseEnd({ queue, part: 'key', what: 'by' }, turns.at + 9)
  effects.turnsTaken.push({ queue, key: 'by', seq: 1 })
  effects.noteBucket({ ...newKey(queue, 'by'), fullMono: 1_250 })
  addFlow(turns)
  effects.systemEvent({ type: 'queue.paused', queue: 'by', key: 'by' })
  effects.paused = true
  effects.systemEvent({ type: 'engine.paused' })
  effects.systemEvent({ type: 'schedule.skipped', schedule: 'bystander', tick: turns.at - 5, reason: 'late' })
  effects.minutes.push({ queue, at: 3_600_000, before: 0, totals: { enqueued: 1, completed: 0, failed: 0, cancelled: 0 } })
  effects.sourceOffsets.push({ source: 'bystander', offset: 5 })
  effects.exports.push({ name: 'bystander', cursor: 3 })
  effects.schedule(
    scheduleOf('bystander', { spec: { every: 60_000, ...PLAIN }, anchor: 1, nextAt: turns.at + 60_000, fireAt: turns.at + 60_000 }),
    'put',
  )
  const definition = { defaults: { priority: 3 }, session: 's', worker: 'w', host: 'h', saidAt: 1, firstSeq: 1 }
  effects.definitions.push({ name: 'stand', definition, settling: 0 })
  turns.commit()
}

/** Adds a gate with an edge to an existing job and one to a deleted job, children to be notified, and an edge to be dropped. */
function addFlow({ effects: { flows } }: Turns): void {
  const [parent, child, goneParent, goneChild] = [1, 2, 1_000_001, 1_000_002]
  flows.counters.push({ seq: child, parent, pending: 2, failed: 0, state: COUNTER_PENDING })
  flows.edges.push({ parent, child, place: 1 }, { parent: goneParent, child, place: 2 }, { parent, child: goneChild, place: 1 })
  flows.ends.push({ seq: goneParent, ref: 'gone', state: DELETED, keep: 'state', output: null })
  flows.note({ seq: parent }, NOTIFY)
  flows.gone.push(goneChild)
}
