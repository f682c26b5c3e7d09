/** Durations as people write them: milliseconds, `'5m'`, or `{ minutes: 5 }`. */

export type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'

/** Named parts are added up. */
export interface DurationParts {
  readonly milliseconds?: number
  readonly seconds?: number
  readonly minutes?: number
  readonly hours?: number
  readonly days?: number
  readonly weeks?: number
}

/** A length of time: milliseconds, a string such as '5m', or an object such as `{ minutes: 5 }`. */
export type Duration = number | `${number}${DurationUnit}` | `${number} ${DurationUnit}` | DurationParts

const UNIT_MS: Record<DurationUnit, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const PART_MS: Record<keyof DurationParts, number> = {
  milliseconds: UNIT_MS.ms,
  seconds: UNIT_MS.s,
  minutes: UNIT_MS.m,
  hours: UNIT_MS.h,
  days: UNIT_MS.d,
  weeks: UNIT_MS.w,
}

/**
 * Milliseconds of a duration, or undefined where it is none. Negative numbers and infinity come back as they are: whether
 * they are allowed is the option's own rule.
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
  if (typeof value === 'string') {
    const match = /^(-?\d+(?:\.\d+)?) ?(ms|s|m|h|d|w)$/.exec(value)
    return match === null ? undefined : Number(match[1]) * UNIT_MS[match[2] as DurationUnit]
  }
  if (typeof value !== 'object' || value === null) return undefined
  let total: number | undefined
  for (const [part, amount] of Object.entries(value)) {
    const unit = Object.hasOwn(PART_MS, part) ? PART_MS[part as keyof DurationParts] : undefined
    if (unit === undefined || typeof amount !== 'number' || Number.isNaN(amount)) return undefined
    total = (total ?? 0) + amount * unit
  }
  // Of infinities that cancel each other out.
  return Number.isNaN(total) ? undefined : total
}

/** A duration for people: the largest unit that divides it. */
export function formatDuration(ms: number): string {
  for (const unit of ['w', 'd', 'h', 'm', 's'] as const) {
    if (ms !== 0 && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`
  }
  return `${ms}ms`
}
