/** The query line: `queue:billing tag:"big one" card 4242`. Terms with a known field narrow the list; all else is searched for. */
import { isTab } from './tabs.ts'

/** The fields that a query may name, in the order in which they are offered. `state:` and `id:` lead elsewhere. */
export const FIELDS = ['queue', 'name', 'tag', 'key', 'error', 'worker', 'schedule', 'after', 'before'] as const
export type Field = (typeof FIELDS)[number]
const LEADING = ['state', 'id'] as const
export type Leading = (typeof LEADING)[number]

export interface Query {
  readonly terms: Readonly<Partial<Record<Field, string>>>
  /** The string that the jobs contain; empty if any do. */
  readonly text: string
  /** Typed terms that are no part of the list's query: a state is a tab, an id another page. */
  readonly leading: Readonly<Partial<Record<Leading, string>>>
  /** Words that look like syntax and are none: they are a part of the text, and people are told so. */
  readonly faults: readonly Fault[]
}

export interface Fault {
  readonly word: string
  /** The field that it may have meant. */
  readonly meant?: string
}

/** A word, in which a part in quotation marks may have spaces. */
const WORD = /(?:"(?:[^"\\]|\\.)*"|\S)+/g
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

export function parseQuery(line: string): Query {
  const terms: Partial<Record<Field, string>> = {}
  const leading: Partial<Record<Leading, string>> = {}
  const texts: string[] = []
  const faults: Fault[] = []
  for (const word of line.match(WORD) ?? []) {
    const [name, value] = split(word)
    const field = FIELDS.find((each) => each === name)
    const lead = LEADING.find((each) => each === name)
    if (field !== undefined && value !== '') terms[field] = value
    else if (lead === 'id' ? value !== '' : lead === 'state' && isTab(value)) leading[lead as Leading] = value
    else {
      texts.push(unquoted(word))
      const fault = faultOf(word)
      if (fault !== undefined) faults.push(fault)
    }
  }
  return { terms, text: texts.join(' '), leading, faults }
}

const NAMES: readonly string[] = [...FIELDS, ...LEADING]
/** A field, with what other searches put before it, and behind it in place of a colon. `http://` is none. */
const TERM = /^([-!+]?)([a-z]\w*)(:(?!\/\/)[<>]?|[=<>])/i
const WORDS = /^(?:AND|OR|NOT)$/

/** Returns what is wrong with a word that is no term: a negation, a comparison, a misspelt field, a field without a value. */
function faultOf(word: string): Fault | undefined {
  if (WORDS.test(word)) return { word }
  const [, sign = '', name = '', mark = ''] = TERM.exec(word) ?? []
  const meant = NAMES.find((each) => isNear(each, name.toLowerCase()))
  if (meant !== undefined) return { word, ...((sign === '' || meant !== name) && { meant }) }
  return /[=<>]/.test(mark) ? { word } : undefined
}

/** True if one character, or the order of two, makes the words the same. */
function isNear(name: string, typed: string): boolean {
  if (Math.abs(name.length - typed.length) > 1 || typed.length < 2) return false
  let start = 0
  while (start < name.length && name[start] === typed[start]) start++
  const [rest, other] = [name.slice(start), typed.slice(start)]
  const isSwapped = rest.slice(2) === other.slice(2) && rest[0] === other[1] && rest[1] === other[0]
  return rest.slice(1) === other.slice(1) || rest.slice(1) === other || rest === other.slice(1) || isSwapped
}

/** Returns the name before the first colon, and what stands behind it without quotation marks. */
function split(word: string): readonly [name: string, value: string] {
  const at = word.indexOf(':')
  return at <= 0 ? ['', ''] : [word.slice(0, at), unquoted(word.slice(at + 1))]
}

function unquoted(word: string): string {
  const [, inner] = QUOTED.exec(word) ?? []
  return inner === undefined ? word : inner.replaceAll(/\\(.)/g, '$1')
}

/** Writes a query so that `parseQuery` reads the same. */
export function writeQuery({ terms, text, faults }: Pick<Query, 'terms' | 'text' | 'faults'>): string {
  const words = FIELDS.flatMap((field) => (terms[field] === undefined ? [] : [`${field}:${quotedIfNeeded(terms[field])}`]))
  return [...words, ...(text === '' ? [] : [writeText(text, faults)])].join(' ')
}

export function quotedIfNeeded(value: string): string {
  return /[\s"]/.test(value) || value === '' ? quoted(value) : value
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

/** A text that would be read as something else stands in quotation marks as a whole. One with faults keeps them. */
export function writeText(text: string, faults: Query['faults']): string {
  const read = parseQuery(text)
  const isFaulty = faults.length === 0 && read.faults.length > 0
  const same = read.text === text && !isFaulty && Object.keys(read.terms).length + Object.keys(read.leading).length === 0
  return same ? text : quoted(text)
}

export function withTerm(query: Query, field: Field, value: string | undefined): Query {
  const { [field]: _, ...others } = query.terms
  return { ...query, terms: value === undefined ? others : { ...others, [field]: value } }
}
