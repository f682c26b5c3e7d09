/** A file with a bystander of every kind: whatever a test writes, none of them may change. */

import { join } from 'node:path'
import type { AttemptView } from '@millrace/core'
import type { Database } from '../driver.ts'
import type { SqliteStore } from '../store.ts'
import { addBystanders } from './bystanders.ts'
import { changedRows, lookInto, openTestStore, snapshot, temporaryFolder } from './files.ts'
import { Turns } from './jobs.ts'

export interface Crowd {
  readonly store: SqliteStore
  readonly turns: Turns
  readonly db: Database
  /** Commits the turn. Returns the rows that went and that came, as `table seq` if a row has one. */
  readonly commit: () => { gone: string[]; come: string[] }
}

export function openCrowd(): Crowd {
  const file = join(temporaryFolder(), 'jobs.db')
  const store = openTestStore({ file })
  const turns = new Turns(store)
  addBystanders(turns)
  const db = lookInto(file)
  const commit = () => {
    const before = snapshot(db)
    turns.commit()
    const { gone, come } = changedRows(before, snapshot(db))
    return { gone: gone.map(brief), come: come.map(brief) }
  }
  return { store, turns, db, commit }
}

/** Returns the runs of a job, as the file has them. */
export function attemptsOf({ jobs, attempts }: SqliteStore, seq: number): AttemptView[] | undefined {
  return attempts(jobs([seq]))[0]
}

/** Shortens `job {"seq":5,...}` to `job 5`. */
function brief(row: string): string {
  const [table, json] = [row.slice(0, row.indexOf(' ')), JSON.parse(row.slice(row.indexOf(' ') + 1))]
  return `${table} ${json.seq ?? json.id ?? json.name ?? json.key}`
}
