/** The words of the tables as they stand in the documentation of the Python client: names in small letters, durations in seconds. */
import { type Field, LIMITS, type Row, withCommas } from '@millrace/core'
import { COMMAND } from '../../../packages/wire/src/schema/requests.ts'
import { fieldsOf, snake } from './schema.ts'

type Kind = Row['kind']

const UNITS = { s: 1, m: 60, h: 3_600 }

/** A constant in backticks stays as it is: it is the code of an error. */
export const inPython = (text: string) =>
  text
    .replaceAll(/`(\w+)`/g, (whole, name: string) => (name === name.toUpperCase() ? whole : `\`${snake(name)}\``))
    .replaceAll(/\b(\d+)(s|m|h)\b/g, (_, count: string, unit: keyof typeof UNITS) => `${Number(count) * UNITS[unit]} s`)
    .replaceAll('\u2019', "'")

/** Abbreviations stay as they are. */
export const lowered = (text: string) => text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
const named = (names: readonly string[]) => names.map((name) => `\`${snake(name)}\``).join(', ')

/** The bounds of a field of the protocol, with its unit. */
export function boundsOf(name: string, says: string): string {
  const [, text, min, max] = /^(string|integer|number), (-?[\d,.]+) to ([\d,.]*\d)/.exec(says) ?? []
  if (min !== undefined) return `${min} to ${max}${text === 'string' ? ' characters' : ''}`
  const [, first] = /^integer from (\d+)$/.exec(says) ?? []
  if (first !== undefined) return `${first} or more`
  const [, least] = /^milliseconds, (\d+) or more/.exec(says) ?? []
  const endless = name === 'keep' ? ", or 'forever'" : says.includes('infinity') ? ', or math.inf' : ''
  if (least !== undefined) return `seconds, ${Number(least) / 1_000} or more${endless}`
  const [, items] = /^array of up to (\d[\d,]*)/.exec(says) ?? []
  if (items !== undefined) return `at most ${items}`
  const [, length] = /^string, (?:up|cut) to (\S+)$/.exec(says) ?? []
  return length === undefined ? '' : `up to ${length} characters`
}

/** The bounds and the form of an option, unless its sentence has the number. */
function formOf(kind: Kind, says: string): string {
  switch (kind.type) {
    case 'integer':
      return `${withCommas(kind.min)} to ${withCommas(kind.max)}`
    case 'duration': {
      if (/\d/.test(says)) return 'in seconds'
      return `seconds, ${kind.min / 1_000} ${kind.max === undefined ? 'or more' : `to ${withCommas(kind.max / 1_000)}`}`
    }
    case 'time':
      return 'seconds since 1970, or a datetime'
    case 'record':
      return recordForm(kind.fields)
    case 'tiers':
      return `a dict by name of tier, at most ${LIMITS.keyTiers}, each ${formOf(kind.of, '')}`
    case 'keep':
      return "seconds, 'forever', or a dict of `age` and `count`"
    default:
      return ''
  }
}

function recordForm(fields: Readonly<Record<string, Field>>): string {
  const forms = Object.entries(fields).map(([name, { kind, otherwise }]) => {
    if (kind.type === 'record') return [name, `a dict of ${named(Object.keys(kind.fields))}`] as const
    const preset =
      typeof otherwise === 'number' ? `, default ${otherwise / 1_000}` : otherwise === undefined ? '' : `, default \`${otherwise}\``
    return [name, `${formOf(kind, '')}${preset}`] as const
  })
  const [[, first] = ['', '']] = forms
  if (Object.values(fields).some(({ kind }) => kind.type === 'backoff'))
    return `a dict of options of \`new_job\`: ${named(Object.keys(fields))}`
  if (forms.length > 1 && forms.every(([, form]) => form === first)) return `a dict of ${named(Object.keys(fields))}, each ${first}`
  return `a dict of ${forms.map(([name, form]) => `${named([name])}${form === '' ? '' : ` (${form})`}`).join(', ')}`
}

/** A line of the documentation of an option, from its row. The first time that its sentence has one of its words, this is a string. */
export function rowDoc(name: string, { kind, says, preset }: Row): string {
  const quoted = (text: string, words: readonly string[]) =>
    words.reduce((changed, word) => changed.replace(new RegExp(`(^|[ :(])${word}(?=[ ,;])`), `$1'${word}'`), text)
  const sentence = inPython(kind.type === 'choice' ? quoted(lowered(says), kind.words) : lowered(says))
  const isText = kind.type === 'choice' || kind.type === 'zone'
  const parts = [sentence, formOf(kind, says)].filter((part) => part !== '')
  return `\`${snake(name)}\`: ${parts.join('; ')}${preset === undefined ? '' : `, default ${isText ? `'${preset}'` : inPython(preset)}`}.`
}

/** Breaks prose into lines of a docstring. */
export function wrapped(paragraph: string, indent: string): string {
  const lines: string[] = []
  let line = indent
  for (const word of paragraph.split(' ')) {
    if (`${line} ${word}`.length > 138 && line !== indent) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}

/** A limit as people say it: `14 days`, `16 MiB`, `10,000`. */
function limit(name: string): string {
  const value: number = (LIMITS as Readonly<Record<string, number>>)[name] ?? Number.NaN
  if (Number.isNaN(value)) throw new Error(`there is no limit ${name}`)
  if (name.endsWith('Ms')) return value % 86_400_000 === 0 ? `${value / 86_400_000} days` : `${value / 3_600_000} hours`
  return name.startsWith('bytes') ? `${value / 2 ** 20} MiB` : withCommas(value)
}

/** Replaces `{operation.field}` and `{limit}` in the words of a method: by the bounds of that field, or by that limit. */
export function withBounds(text: string): string {
  return text.replaceAll(/\{(\w+)(?:\.(\w+))?\}/g, (_, of: string, name?: string) => {
    if (name === undefined) return limit(of)
    const { fields } = COMMAND.variants[of as keyof typeof COMMAND.variants]
    return boundsOf(name, fieldsOf(fields)[name]?.kind.says ?? '')
  })
}
