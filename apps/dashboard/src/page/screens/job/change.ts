/** The change of a job that waits: its priority, and when it is due. */

/** "2025-11-23T03:12" in the zone of the browser, as the browser's own field for times takes it. */
export function localTime(at: number, aheadMs: number): string {
  return new Date(at + aheadMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

export interface Changes {
  readonly priority?: number
  readonly runAt?: string
}

/** Returns what differs from before; undefined if the priority is no whole number, or the time is none. */
export function changesOf(
  before: { readonly priority: number; readonly time: string },
  priority: string,
  time: string,
  aheadMs: number,
): Changes | undefined {
  const at = Date.parse(`${time}Z`) - aheadMs
  if (!/^-?\d{1,9}$/.test(priority.trim()) || Number.isNaN(at)) return undefined
  return {
    ...(Number(priority) !== before.priority && { priority: Number(priority) }),
    ...(time !== before.time && { runAt: new Date(at).toISOString() }),
  }
}
