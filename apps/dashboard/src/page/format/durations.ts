/** Durations as people read them: two units at most. */

const S = 1_000
const MIN = 60 * S
const H = 60 * MIN
const D = 24 * H

/** The time by which the engine means "forever". */
export const FOREVER_MS = 36_500 * D

/** "1.4 ms", "37 ms", "7.4 s", "41 s", "14 m 02 s", "3 h 10 m", "5 d 3 h". */
export function duration(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  if (Math.round(ms) < S) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${(ms / S).toFixed(1)} s`
  if (ms < MIN) return `${Math.min(59, Math.round(ms / S))} s`
  if (ms < H) return pair(ms, MIN, 'm', S, 's')
  if (ms < D) return pair(ms, H, 'h', MIN, 'm')
  return pair(ms, D, 'd', H, 'h')
}

function pair(ms: number, unit: number, name: string, part: number, partName: string): string {
  const rest = Math.floor((ms % unit) / part)
  return `${Math.floor(ms / unit)} ${name} ${`${rest}`.padStart(part === H ? 1 : 2, '0')} ${partName}`
}

const UNITS = [
  [D, 'd', ' d'],
  [H, 'h', ' h'],
  [MIN, 'm', ' min'],
  [S, 's', ' s'],
] as const

const unitOf = (ms: number) => UNITS.find(([size]) => ms >= size && ms % size === 0)

/** A setting, in the largest unit that says all of it: "5 min", "90 s", "30 d". */
export function span(ms: number): string {
  const unit = unitOf(ms)
  return unit === undefined ? duration(ms) : ms / unit[0] + unit[2]
}

/** The same as the API reads it, to the millisecond: "90s", "5m", "7d". */
export function exactSpan(ms: number): string {
  const unit = unitOf(ms)
  return unit === undefined ? `${ms}ms` : ms / unit[0] + unit[1]
}

/** One unit, rounded down: "now", "41 s", "8 min", "3 h", "5 d". */
export function rough(ms: number): string {
  if (ms < S) return 'now'
  if (ms < MIN) return `${Math.floor(ms / S)} s`
  if (ms < H) return `${Math.floor(ms / MIN)} min`
  return ms < D ? `${Math.floor(ms / H)} h` : `${Math.floor(ms / D)} d`
}

/** A job that waits for a message alone is due at this time. */
export const ON_MESSAGE = Date.parse('9999-12-31T23:59:59.999Z')

/** How long ago a time was: "now", "41 s ago". What lies ahead is "in 4 s". */
export function ago(atMs: number, nowMs: number): string {
  if (atMs === ON_MESSAGE) return 'on a message'
  const past = nowMs - atMs
  if (past <= -S) return `in ${rough(-past)}`
  return past < S ? 'now' : `${rough(past)} ago`
}
