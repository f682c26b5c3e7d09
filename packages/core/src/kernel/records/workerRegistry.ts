/** Worker sessions that were reported as attached and not as gone. They are kept with the file, so that a restart reports nothing twice. */
import type { PresentRow } from './rows.ts'

export interface Present {
  /** The session's row number. */
  readonly id: number
  readonly worker: string
  readonly local: boolean
  /** Identifies its process on its machine; empty if unknown, and for this process. */
  readonly process: string
  draining: boolean
  /** The time when a session that is only on record is lost, unless it attaches before; monotonic, Infinity if it has. */
  untilMono: number
}

/** The tables, as far as the registry needs them. */
interface Registered {
  readonly present: Map<string, Present>
  leaseMono: number
}

/** Adds a session that is on record and has yet to attach. */
export function addPresent(tables: Registered, { uuid, remote, ...row }: PresentRow, untilMono: number): void {
  tables.present.set(uuid, { ...row, local: !remote, untilMono })
  tables.leaseMono = Math.min(tables.leaseMono, untilMono)
}

/** Returns the sessions of this process that have yet to attach again. */
export function awaited({ present }: Registered): string[] {
  return [...present].filter(([, { local, untilMono }]) => local && Number.isFinite(untilMono)).map(([uuid]) => uuid)
}

/** Gives up on a session that has yet to attach again. */
export function dismiss(tables: Registered, uuid: string): void {
  const present = tables.present.get(uuid)
  if (present === undefined || present.untilMono === Number.POSITIVE_INFINITY) return
  present.untilMono = Number.NEGATIVE_INFINITY
  tables.leaseMono = Number.NEGATIVE_INFINITY
}
