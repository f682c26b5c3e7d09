/** The last run of each job of a page: what `attempts` has last, in short. */
import { CANCELLED, FAILED, LIMITS, SCHEDULED } from '@millrace/core'
import { lastRunOf } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { openCrowd } from '../testing/crowd.ts'
import { listed } from '../testing/lists.ts'

const LONG = 'm'.repeat(LIMITS.lastErrorLength - 1)

test('is that of the job’s state, with the error as far as a list shows it', () => {
  const { store, turns } = openCrowd()
  const session = turns.session('worker-9')
  const error = { name: 'TypeError', message: `${LONG}😀 and more`, stack: 'at x', code: 'E' }
  const record = { attempt: 1, startedAt: 10, endedAt: 20, worker: 'worker-8' }
  const waiting = turns.insert()
  const [active, done, retrying, failed, given, dropped] = Array.from({ length: 6 }, () => turns.insert())
  if (!active || !done || !retrying || !failed || !given || !dropped) throw new Error('no jobs')
  for (const job of [active, done]) turns.start(job, session)
  turns.commit()
  turns.complete(done)
  turns.effects.runs.push(
    { ...record, seq: active.seq, run: 0, error },
    { ...record, seq: retrying.seq, run: 1, error: { name: 'First', message: 'of two' } },
    { ...record, seq: retrying.seq, run: 2, error },
    { ...record, seq: failed.seq, run: 3, attempt: 0, startedAt: 0, worker: '', error: { name: 'JobExpiredError', message: 'late' } },
    { ...record, seq: given.seq, run: 1, error: { name: 'E', message: 'before' } },
    { ...record, seq: given.seq, run: 2, error: undefined },
  )
  turns.move(retrying, SCHEDULED)
  for (const job of [failed, dropped]) job.finishedAt = turns.at
  turns.move(failed, FAILED)
  dropped.dropped = true
  turns.move(dropped, CANCELLED)
  turns.commit()

  const rows = store.jobs([waiting, active, done, retrying, failed, given, dropped].map(({ seq }) => seq))
  const startedAt = turns.at - 2
  expect(store.withLastRuns(rows).map(({ lastRun }) => lastRun)).toEqual([
    null,
    { run: 1, startedAt, endedAt: 0, worker: 'worker-9' },
    { run: 1, startedAt, endedAt: startedAt + 1, worker: 'worker-9' },
    // Half of a pair: the message is cut to its length, as all messages are.
    { run: 2, startedAt: 10, endedAt: 20, worker: 'worker-8', error: { name: 'TypeError', message: `${LONG}😀`.slice(0, -1) } },
    { run: 3, startedAt: 0, endedAt: 20, worker: '', error: { name: 'JobExpiredError', message: 'late' } },
    { run: 2, startedAt: 10, endedAt: 20, worker: 'worker-8' },
    { run: 0, startedAt: 0, endedAt: startedAt + 1, worker: '', error: { name: 'JobDroppedError', message: expect.any(String) } },
  ])
  const all = listed(store)
  const inShort = store.attempts(all).map((attempts) => (attempts.length === 0 ? null : lastRunOf(attempts.at(-1) as never)))
  expect(listed(store, { lastRun: true })).toEqual(all.map((row, index) => ({ ...row, lastRun: inShort[index] })))
  expect(store.withLastRuns([])).toEqual([])
})
