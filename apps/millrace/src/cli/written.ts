/** How the kinds of core's values are written: in a flag, and after `config set`. */
import { endlessOf, type Kind, type Row } from '@millrace/core'
import { flagName } from '../config/flagName.ts'
import { kindOf } from '../config/settings.ts'
import { defined } from '../defined.ts'
import { UsageError } from './errors.ts'
import { duration, json, number, time } from './values.ts'

interface Written {
  /** Stands for the value in help; undefined for a flag without one. */
  readonly value?: string
  /** Passes on what it cannot read, which the engine rejects by name. Default: the text itself. */
  readonly parse?: (text: string) => unknown
  /** Shows how to write it. */
  readonly forms?: string
  /** Says what a word means. */
  readonly note?: string
}

export function writtenOf(kind: Kind): Written {
  switch (kind.type) {
    case 'name':
      return { value: 'name' }
    case 'text':
      return { value: 'text' }
    case 'integer':
      return { value: 'number', parse: number }
    case 'duration':
      return { value: 'duration', parse: duration, ...unendingOf(kind) }
    case 'choice':
      return { value: 'word' }
    case 'boolean':
      return {}
    case 'time':
      return { value: 'time', parse: time }
    case 'cron':
      return { value: 'expression' }
    case 'zone':
      return { value: 'zone' }
    case 'backoff':
      return { value: 'spec', parse: backoff, forms: 'fixed:5s, linear:5s, exponential:1s:2 (delay, factor, cap), or JSON' }
    case 'keep':
      return { value: 'duration', parse: keep, forms: '7d, forever, or JSON' }
    case 'tiers':
      return { value: 'json', parse: json }
    case 'record':
      if (kind.notation === 'rate') return { value: 'spec', parse: rate, forms: '100/1s, 100/1m:20 (limit, period, burst), or JSON' }
      if (kind.notation === 'shared') return { value: 'spec', parse: shared, forms: 'smtp:5 (name, limit), or JSON' }
      return { value: 'json', parse: record }
  }
}

function unendingOf({ forever, endless }: Extract<Kind, { readonly type: 'duration' }>): Pick<Written, 'note'> {
  if (forever === true) return { note: 'forever keeps it' }
  return endless === undefined ? {} : { note: 'none means no limit' }
}

/** The flag of a row: its name with its value, and what its help says. Other rows that it names are flags too. */
export function flagOf(rows: Readonly<Record<string, Row>>, name: string): { readonly flag: string; readonly help: string } {
  const { kind, says, preset, example } = rows[name] as Row
  const { value, forms, note } = writtenOf(kind)
  const sentence = `${says[0]?.toLowerCase()}${says.slice(1)}`.replaceAll(/`(.+?)`/g, (_, word: string) =>
    word in rows ? `--${flagName(word)}` : word,
  )
  const what = [sentence, forms].filter(Boolean).join(': ')
  const help = [what, note, example && `for instance ${example}`, preset && `default ${preset}`].filter(Boolean).join('; ')
  return { flag: value === undefined ? `--${flagName(name)}` : `--${flagName(name)} <${value}>`, help }
}

/**
 * Reads the value of a setting of a queue as `config set` has it: null for `none`, which takes it away.
 *
 * @throws UsageError for a duration without a unit, and for what is no JSON
 */
export function settingOf(key: string, text: string): unknown {
  if (text === 'none') return null
  const kind = kindOf(key)
  const { parse = String } = kind === undefined ? { parse: number } : writtenOf(kind)
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(`${key}: ${(error as Error).message}`)
  }
}

/** `type:delay:factor:maxDelay`, or JSON. */
export function backoff(text: string): unknown {
  if (text.startsWith('{')) return json(text)
  const [type, delay, factor, maxDelay] = text.split(':')
  return defined({
    type,
    delay: delay === undefined ? undefined : duration(delay),
    factor: factor === undefined ? undefined : number(factor),
    maxDelay: maxDelay === undefined ? undefined : duration(maxDelay),
  })
}

function keep(text: string): unknown {
  return text === 'forever' ? text : text.startsWith('{') ? json(text) : duration(text)
}

/** `100/1m:20`, or JSON. */
function rate(text: string): unknown {
  if (text.startsWith('{')) return json(text)
  const [, limit = text, period, burst] = /^([^/:]*)(?:\/([^:]*))?(?::(.*))?$/.exec(text) ?? []
  return defined({
    limit: number(limit),
    period: period === undefined ? undefined : duration(/^\d/.test(period) ? period : `1${period}`),
    burst: burst === undefined ? undefined : number(burst),
  })
}

/** `smtp:5`, or JSON. A name may have colons of its own. */
function shared(text: string): unknown {
  if (text.startsWith('{')) return json(text)
  const [, name = text, limit = ''] = /^(.+):([^:]*)$/.exec(text) ?? []
  return { name, limit: number(limit) }
}

/** JSON, in which null says that there is no limit. */
function record(text: string): unknown {
  const value = json(text)
  return typeof value === 'object' && value !== null ? endlessOf(value) : value
}
