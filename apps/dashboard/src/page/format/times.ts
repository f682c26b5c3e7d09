/** Times of day and dates, in the zone of the browser or in UTC. The language is fixed, because that of a browser may be unknown to it. */

export type Zone = 'local' | 'utc'

const LANGUAGE = 'en-GB'
const OPTIONS = {
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  clockMs: { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  minute: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  dayMinute: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  exact: {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  },
  zone: { timeZoneName: 'short' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>

const formats = new Map<string, Intl.DateTimeFormat>()

function format(name: keyof typeof OPTIONS, zone: Zone): Intl.DateTimeFormat {
  const key = `${name} ${zone}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(LANGUAGE, { ...OPTIONS[name], hourCycle: 'h23', ...(zone === 'utc' && { timeZone: 'UTC' }) })
  formats.set(key, made)
  return made
}

/** "03:20:41". */
export const clockTime = (at: number, zone: Zone): string => format('clock', zone).format(at)
/** "03:20:41.732". */
export const clockTimeMs = (at: number, zone: Zone): string => format('clockMs', zone).format(at)
/** "03:20". */
export const minuteTime = (at: number, zone: Zone): string => format('minute', zone).format(at)
/** "23 Nov". */
export const dayDate = (at: number, zone: Zone): string => format('day', zone).format(at)
/** "23 Nov, 03:20". */
export const dayMinute = (at: number, zone: Zone): string => format('dayMinute', zone).format(at)
/** "23 Nov 2025, 03:20:41.732 CET", for titles. */
export const exactTime = (at: number, zone: Zone): string => `${format('exact', zone).format(at)} ${zoneName(at, zone)}`

/** How far the clock of a zone is ahead of UTC at a time. */
export const aheadMs = (at: number, zone: Zone): number => (zone === 'utc' ? 0 : -new Date(at).getTimezoneOffset() * 60_000)

/** "CET", "GMT+5:30", "UTC". */
export function zoneName(at: number, zone: Zone): string {
  const parts = format('zone', zone).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}
