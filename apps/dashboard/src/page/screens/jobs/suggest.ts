/** Suggestions for the word that is typed in the query line: fields by their beginning, and values that are known. */
import type { JobAnswer, StatsAnswer } from '../../api/answers.ts'
import { STATES } from '../../text.ts'
import { FIELDS, type Field, quotedIfNeeded } from './query.ts'

export interface Suggestion {
  /** The word as it stands in the line once it is taken. */
  readonly word: string
  /** True if the word is whole: a field without a value is not. */
  readonly isWhole: boolean
}

export interface KnownValues {
  readonly stats: StatsAnswer | undefined
  /** The jobs that are loaded. */
  readonly jobs: readonly JobAnswer[]
}

const MOST = 8
const TIMES = ['10m', '1h', '6h', '24h', '7d']
const NAMES = [...FIELDS, 'state', 'id'] as const

export function suggestionsOf(word: string, known: KnownValues): readonly Suggestion[] {
  const at = word.indexOf(':')
  if (at === -1) return fieldsOf(word)
  const [name, begun] = [
    word.slice(0, at),
    word
      .slice(at + 1)
      .replace(/^"/, '')
      .toLowerCase(),
  ]
  const values = name === 'state' ? Object.keys(STATES) : valuesOf(name as Field, known)
  return rankedBy(values, begun).map((value) => ({ word: `${name}:${quotedIfNeeded(value)}`, isWhole: true }))
}

function fieldsOf(word: string): readonly Suggestion[] {
  if (word === '') return []
  return NAMES.filter((name) => name.startsWith(word.toLowerCase())).map((name) => ({ word: `${name}:`, isWhole: false }))
}

function valuesOf(field: Field, { stats, jobs }: KnownValues): readonly string[] {
  switch (field) {
    case 'queue':
      return [...Object.keys(stats?.queues ?? {}), ...jobs.map(({ queue }) => queue)]
    case 'name':
      return [...(stats?.names ?? []).map(({ name }) => name), ...jobs.map(({ name }) => name)]
    case 'tag':
      return jobs.flatMap(({ tags }) => tags)
    case 'key':
      return jobs.flatMap(({ concurrencyKey }) => concurrencyKey ?? [])
    case 'error':
      return jobs.flatMap(({ lastRun }) => lastRun?.error?.name ?? [])
    case 'worker':
      return jobs.flatMap(({ lastRun }) => lastRun?.worker || [])
    case 'after':
    case 'before':
      return TIMES
    default:
      return []
  }
}

/** Values that begin with what is typed come before those that have it within. */
function rankedBy(values: readonly string[], begun: string): readonly string[] {
  const distinct = [...new Set(values)].filter((value) => value.toLowerCase().includes(begun))
  return distinct
    .toSorted((a, b) => Number(b.toLowerCase().startsWith(begun)) - Number(a.toLowerCase().startsWith(begun)) || (a < b ? -1 : 1))
    .slice(0, MOST)
}

/** The word that is typed: the last one of the line. Spaces in quotation marks are a part of it. */
export function lastWordOf(line: string): string {
  let [begin, isQuoted] = [0, false]
  for (let at = 0; at < line.length; at++) {
    if (isQuoted && line[at] === '\\') at++
    else if (line[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && /\s/.test(line[at] as string)) begin = at + 1
  }
  return line.slice(begin)
}

export function withLastWord(line: string, word: string): string {
  return line.slice(0, line.length - lastWordOf(line).length) + word
}
