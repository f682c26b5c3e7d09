/** Times as people type them into the query: "1h" ago, "03:20" today, "2025-11-23", "2025-11-23T03:20". */

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
const DAY_MS = 86_400_000

/** A time that moves with the clock, or one that stays. */
export type When = { readonly agoMs: number } | { readonly at: number }

/**
 * Returns undefined if the text is no time.
 *
 * @param aheadMs how far the clock that people look at is ahead of UTC
 */
export function whenOf(text: string, now: number, aheadMs: number): When | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})(s|m|min|h|d|w)$/.exec(text) ?? []
  if (amount !== undefined) return { agoMs: Number(amount) * (UNITS[unit] as number) }
  const today = new Date(Math.floor((now + aheadMs) / DAY_MS) * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const day = /^\d{2}:\d{2}(?::\d{2})?$/.test(text) ? `${today}T${text}` : text
  if (!/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)?Z?$/.test(day)) return undefined
  const isUtc = day.endsWith('Z')
  const at = Date.parse(isUtc || !day.includes('T') ? day : `${day}Z`)
  return Number.isNaN(at) ? undefined : { at: isUtc ? at : at - aheadMs }
}

/** Returns the time as the API takes it. */
export function timeOfWhen(when: When, now: number): string {
  return new Date('at' in when ? when.at : now - when.agoMs).toISOString()
}
