/** The query line: `queue:billing tag:"big one" card 4242`. Terms with a known field narrow the list; all else is searched for. */

/** The fields that a query may name, in the order in which they are offered. `state:` and `id:` lead elsewhere. */
export const FIELDS = ['queue', 'name', 'tag', 'key', 'error', 'worker', 'schedule', 'after', 'before'] as const
export type Field = (typeof FIELDS)[number]
const LEADING = ['state', 'id'] as const
export type Leading = (typeof LEADING)[number]

export interface Query {
  readonly terms: Readonly<Partial<Record<Field, string>>>
  /** Searched for in names, tags, keys and data; empty if nothing is. */
  readonly text: string
  /** Typed terms that are no part of the list's query: a state is a tab, an id another page. */
  readonly leading: Readonly<Partial<Record<Leading, string>>>
}

/** A word, in which a part in quotation marks may have spaces. */
const WORD = /(?:"(?:[^"\\]|\\.)*"|\S)+/g
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

export function parseQuery(line: string): Query {
  const terms: Partial<Record<Field, string>> = {}
  const leading: Partial<Record<Leading, string>> = {}
  const texts: string[] = []
  for (const word of line.match(WORD) ?? []) {
    const [name, value] = split(word)
    const field = FIELDS.find((each) => each === name)
    const lead = LEADING.find((each) => each === name)
    if (field !== undefined && value !== '') terms[field] = value
    else if (lead !== undefined && value !== '') leading[lead] = value
    else texts.push(unquoted(word))
  }
  return { terms, text: texts.join(' '), leading }
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
export function writeQuery({ terms, text }: Pick<Query, 'terms' | 'text'>): string {
  const words = FIELDS.flatMap((field) => (terms[field] === undefined ? [] : [`${field}:${quotedIfNeeded(terms[field])}`]))
  return [...words, ...(text === '' ? [] : [writeText(text)])].join(' ')
}

export function quotedIfNeeded(value: string): string {
  return /[\s"]/.test(value) || value === '' ? quoted(value) : value
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

/** A text that would be read as something else stands in quotation marks as a whole. */
export function writeText(text: string): string {
  const read = parseQuery(text)
  const same = read.text === text && Object.keys(read.terms).length + Object.keys(read.leading).length === 0
  return same ? text : quoted(text)
}

export function withTerm(query: Query, field: Field, value: string | undefined): Query {
  const { [field]: _, ...others } = query.terms
  return { ...query, terms: value === undefined ? others : { ...others, [field]: value } }
}
