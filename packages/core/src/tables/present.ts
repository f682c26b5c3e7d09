/** Which worker sessions have been told as attached and not as gone: kept with the file, so that a restart tells nothing twice. */
import type { PresentRow } from '../store.ts'
import type { Tables } from './tables.ts'

export interface Present {
  /** The session's row number. */
  readonly id: number
  readonly worker: string
  readonly local: boolean
  draining: boolean
  /** It is on record alone, and taken for lost unless it attaches by then; monotonic, Infinity where it has. */
  untilMono: number
}

/** A session is on record, and not there. */
export function addPresent(tables: Tables, { id, uuid, worker, remote, draining }: PresentRow, untilMono: number): void {
  tables.present.set(uuid, { id, worker, local: !remote, draining, untilMono })
  tables.leaseMono = Math.min(tables.leaseMono, untilMono)
}

/** The sessions of this process that have yet to attach again. */
export function awaited({ present }: Tables): string[] {
  return [...present].filter(([, { local, untilMono }]) => local && Number.isFinite(untilMono)).map(([uuid]) => uuid)
}

/** Nobody comes back as that session, if it has yet to. */
export function dismiss(tables: Tables, uuid: string): void {
  const present = tables.present.get(uuid)
  if (present === undefined || present.untilMono === Number.POSITIVE_INFINITY) return
  present.untilMono = Number.NEGATIVE_INFINITY
  tables.leaseMono = Number.NEGATIVE_INFINITY
}
