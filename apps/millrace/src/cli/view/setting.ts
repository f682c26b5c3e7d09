/** Formats the value of a setting as people write it: in its flag, and within JSON. */
import { checkOf, formatDuration, type Keep, type Kind, LIMITS, type RateLimit, type SharedLimit } from '@millrace/core'
import { BACKOFF_FIELDS } from '../../config/settings.ts'
import { plain } from '../output/plain.ts'

type Values = Readonly<Record<string, unknown>>
type KindOf<Type extends Kind['type']> = Extract<Kind, { readonly type: Type }>

/** Formats a value as its flag reads it: `1h`, `100/1m:20`, a word, or JSON. The kind is undefined for a value that no table has. */
export function settingText(kind: Kind | undefined, value: unknown): string {
  if (kind?.type === 'record' && kind.notation === 'rate') return rateText(value as RateLimit)
  if (kind?.type === 'record' && kind.notation === 'shared') return sharedText(value as SharedLimit)
  const said = written(kind, value)
  return typeof said === 'string' || said === Number.POSITIVE_INFINITY ? String(said) : JSON.stringify(plain(said))
}

/** Returns a value with its durations as strings. Infinity stands for no limit. */
function written(kind: Kind | undefined, value: unknown): unknown {
  switch (kind?.type) {
    case 'duration':
      return durationOf(kind, value as number)
    case 'keep':
      return keepOf(kind, value as Keep)
    case 'backoff':
      return fieldsOf(BACKOFF_FIELDS, value as Values)
    case 'record':
      return fieldsOf(kind.fields, value as Values)
    case 'tiers':
      return Object.fromEntries(Object.entries(value as Values).map(([name, tier]) => [name, written(kind.of, tier)]))
    default:
      return value
  }
}

/** A newer engine may have fields that are not known here. */
function fieldsOf(fields: Readonly<Record<string, { readonly kind?: Kind }>>, values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, written(fields[name]?.kind, value)]))
}

function durationOf({ endless, forever }: KindOf<'duration'>, ms: number): number | string {
  const isLongest = ms === LIMITS.durationMs
  if (isLongest && forever === true) return 'forever'
  return ms === Number.POSITIVE_INFINITY || (isLongest && endless === 'capped') ? Number.POSITIVE_INFINITY : formatDuration(ms)
}

/** Leaves out a number that is the default one. */
function keepOf(kind: KindOf<'keep'>, { ageMs, count }: Keep): unknown {
  const forever = checkOf(kind)('forever', 'forever')
  const age = ageMs === forever.ageMs ? 'forever' : formatDuration(ageMs)
  if (count === (age === 'forever' ? forever : kind.preset).count) return age
  return { age, count: count === forever.count ? 'forever' : count }
}

/** Leaves out a burst that is the default one. */
function rateText({ limit, period, burst }: RateLimit): string {
  return `${limit}/${formatDuration(period)}${burst === limit ? '' : `:${burst}`}`
}

function sharedText({ name, limit }: SharedLimit): string {
  return `${name}:${limit}`
}
