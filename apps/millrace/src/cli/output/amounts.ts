/** Formats numbers, times and durations for people. */
import { NEVER_DUE, withCommas } from '@millrace/core'

/** Stands for the due time of a job that waits for a message alone. */
const ON_MESSAGE = 'on a message'

/** Formats a time as `2026-11-21 17:04:05Z`, or as a dash if there is none. */
export function timeText(at: Date | undefined): string {
  if (at?.getTime() === NEVER_DUE) return ON_MESSAGE
  return at === undefined ? '-' : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** Formats a duration in at most two units: `2d 3h`, `4m 5s`, `1.2s`, `12ms`. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return 'none'
  if (ms < 1_000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes}m ${Math.floor((ms % 60_000) / 1_000)}s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours}h ${minutes % 60}m`
  return `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** Formats how long ago a time was, or how far ahead it is: `4m 5s ago`, `in 1.2s`. */
export function awayText(at: Date | undefined, now: number): string {
  if (at === undefined) return '-'
  if (at.getTime() === NEVER_DUE) return ON_MESSAGE
  const ms = at.getTime() - now
  return ms > 0 ? `in ${durationText(ms)}` : `${durationText(-ms)} ago`
}

export function countText(count: number): string {
  return withCommas(count)
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function bytesText(bytes: number): string {
  let [amount, unit] = [bytes, 0]
  while (amount >= 1024 && unit < UNITS.length - 1) [amount, unit] = [amount / 1024, unit + 1]
  return unit === 0 ? `${amount} B` : `${amount.toFixed(1)} ${UNITS[unit]}`
}

/** Formats a count with its noun: `3 jobs`, `1 job`. */
export function many(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}
