// Sessions that are gone, and how long completed jobs keep their rows.
import { LIMITS } from '@millrace/core'
import type { Session } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'

const KEPT = '{"keep":5000}'

function attach({ turns }: Crowd, worker: string): Session {
  const session = turns.session(worker)
  turns.effects.presence.push({ id: session.id, presence: 'here' })
  return session
}

/** Completes a job of the session. Returns its number. */
function complete({ turns }: Crowd, session: Session, policy?: string): number {
  const job = turns.insert({ lane: turns.lane('work'), ...(policy !== undefined && { policy }) })
  turns.start(job, session)
  turns.complete(job)
  return job.seq
}

function leave({ turns }: Crowd, { id }: Session): void {
  turns.effects.presence.push({ id, presence: 'gone' })
}

/** Forgets the batches of completed jobs, as retention does once it has taken them. */
function prune({ db, turns }: Crowd): void {
  const columns = 'queue AS queueId, state, turn, lane AS laneId'
  const batches = db.prepare(
    `SELECT ${columns}, NULL AS until FROM finished WHERE state = 4 UNION SELECT ${columns}, until FROM kept WHERE state = 4`,
  )
  for (const batch of batches.all() as { until: number | null }[])
    turns.effects.pruneTokens.push({ ...batch, until: batch.until ?? undefined })
  turns.commit()
}

function forget({ turns, commit }: Crowd): string[] {
  turns.effects.forgetSessions = true
  return commit().gone.filter((row) => row.startsWith('session'))
}

test('a session that is gone goes, as far as none is left of the jobs that it may have completed', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  prune(crowd)
  const [idle, busy, late, here] = ['idle', 'busy', 'late', 'here'].map((worker) => attach(crowd, worker)) as [
    Session,
    Session,
    Session,
    Session,
  ]
  leave(crowd, idle)
  turns.commit()
  expect(forget(crowd)).toEqual([`session ${idle.id}`])
  const done = complete(crowd, busy)
  leave(crowd, busy)
  turns.commit()
  leave(crowd, late)
  turns.commit()
  // The completed job is older than the end of both.
  expect(forget(crowd)).toEqual([])
  expect(store.attempts(store.jobs([done]))[0]).toMatchObject([{ worker: 'busy' }])
  prune(crowd)
  complete(crowd, here)
  turns.commit()
  expect(forget(crowd).toSorted()).toEqual([busy, late].map(({ id }) => `session ${id}`).toSorted())
})

test('a completed job with a keep of its own keeps its session', () => {
  const crowd = openCrowd()
  prune(crowd)
  const session = attach(crowd, 'busy')
  const kept = complete(crowd, session, KEPT)
  crowd.turns.commit()
  leave(crowd, session)
  crowd.turns.commit()
  expect(forget(crowd)).toEqual([])
  expect(crowd.store.attempts(crowd.store.jobs([kept]))[0]).toMatchObject([{ worker: 'busy' }])
  prune(crowd)
  expect(forget(crowd)).toEqual([`session ${session.id}`])
})

test('a slice at a time', () => {
  const crowd = openCrowd()
  prune(crowd)
  const count = LIMITS.sliceRows + 3
  for (let each = 0; each < count; each++) leave(crowd, attach(crowd, `w${each}`))
  crowd.turns.commit()
  expect([forget(crowd).length, forget(crowd).length, forget(crowd).length]).toEqual([LIMITS.sliceRows, 3, 0])
})

test('a number of a session is not given again, also if the last ones are forgotten', () => {
  const crowd = openCrowd()
  prune(crowd)
  const session = attach(crowd, 'w')
  leave(crowd, session)
  crowd.turns.commit()
  const next = crowd.store.load().nextSession
  expect(forget(crowd)).toEqual([`session ${session.id}`])
  expect(crowd.store.load().nextSession).toBe(next)
})
