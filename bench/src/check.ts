/**
 * A figure without its check does not count. The file is opened again, by a plain SQLite and by the package's own reader: every
 * job is looked at, the journal's events are counted, and SQLite checks the whole file.
 */
import { openReader } from '@millrace/sqlite'
import Database from 'better-sqlite3'

const WAITING = 1
const COMPLETED = 4
const PAGE_EVENTS = 10_000

/** Where the journal ends now: what is checked later begins after it. Of a file that no engine has open. */
export function journalEnd(file: string): number {
  const reader = openReader(file)
  try {
    return reader.journal(Number.MAX_SAFE_INTEGER).lastEvent
  } finally {
    reader.close()
  }
}

/** So many jobs of that name were completed since `after`, each at that attempt, and the journal says the same. */
export function checkCompleted(file: string, name: string, jobs: number, after = 0, attempt = 1): void {
  const completed = countRows(file, name, `state = ${COMPLETED} AND run - uncounted = ${attempt}`)
  if (completed !== jobs) throw new Error(`${completed} of ${jobs} jobs are completed at attempt ${attempt}`)
  const events = countEvents(file, name, 'completed', after)
  if (events !== jobs) throw new Error(`the journal tells of ${events} completions, not of ${jobs}`)
  checkIntegrity(file)
}

/** So many jobs of that name wait, and the journal tells of as many that were enqueued. */
export function checkWaiting(file: string, name: string, jobs: number): void {
  const waiting = countRows(file, name, `state = ${WAITING} AND run = 0`)
  if (waiting !== jobs) throw new Error(`${waiting} of ${jobs} jobs wait`)
  const events = countEvents(file, name, 'enqueued', 0)
  if (events !== jobs) throw new Error(`the journal tells of ${events} jobs that were enqueued, not of ${jobs}`)
  checkIntegrity(file)
}

/** So many results of durable calls are in the file. */
export function checkSteps(file: string, steps: number): void {
  const db = new Database(file, { readonly: true })
  try {
    const found = db.prepare('SELECT count(*) FROM step').pluck().get()
    if (found !== steps) throw new Error(`${String(found)} of ${steps} results are recorded`)
  } finally {
    db.close()
  }
}

export function checkIntegrity(file: string): void {
  const db = new Database(file, { readonly: true })
  try {
    const integrity = db.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`integrity_check: ${String(integrity)}`)
  } finally {
    db.close()
  }
}

export function countRows(file: string, name: string, where: string): number {
  const db = new Database(file, { readonly: true })
  try {
    const count = db.prepare(`SELECT count(*) FROM job JOIN lane ON lane.id = job.lane WHERE lane.name = ? AND ${where}`).pluck()
    return count.get(name) as number
  } finally {
    db.close()
  }
}

function countEvents(file: string, name: string, type: string, after: number): number {
  const reader = openReader(file)
  try {
    let count = 0
    for (let cursor = after; ; ) {
      const events = reader.events(cursor, PAGE_EVENTS)
      for (const event of events) if ('jobSeq' in event && event.type === type && event.name === name) count++
      const last = events.at(-1)
      if (last === undefined) return count
      cursor = last.seq
    }
  } finally {
    reader.close()
  }
}
