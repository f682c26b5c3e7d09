/** The tables of the maps that answer questions, from the rows of their fields. */
import { type Answer, type AnswerKind, type AnswerRecord, NUMBERED_LINE, STORED_JOB } from '@millrace/core/answers'

/** Answers that the text names; those within them have tables too. */
const ANSWERS: readonly AnswerRecord[] = [STORED_JOB, NUMBERED_LINE]

/** Returns the records by their names, each behind the one that contains it, without those that are objects of requests too. */
export function answerRecords(objects: ReadonlySet<string>): ReadonlyMap<string, AnswerRecord> {
  const found = new Map<string, AnswerRecord>()
  const add = (kind: AnswerKind): void => {
    if (kind.type === 'list' || kind.type === 'map') add(kind.of)
    if (kind.type !== 'record' || objects.has(kind.name) || found.has(kind.name)) return
    found.set(kind.name, kind)
    for (const row of Object.values(kind.rows)) add(row.kind)
  }
  for (const each of ANSWERS) add(each)
  return found
}

/** Returns the cells of a record's rows. */
export function answerRows({ rows }: AnswerRecord): readonly (readonly string[])[] {
  return Object.entries(rows).map(([name, row]) => [namesOf(name, row), holds(row), meaning(row)])
}

function namesOf(name: string, { kind, from = name }: Answer): string {
  return kind.type === 'key' ? '`seq`, `node`' : `\`${from}\``
}

function holds({ kind, zero, nil, missing }: Answer): string {
  const others = [zero !== undefined && '0', nil !== undefined && 'nil', missing !== undefined && 'missing'].filter(
    (each) => each !== false,
  )
  return [saidOf(kind), ...others].join('; or ')
}

function meaning({ kind, says, zero, nil, missing }: Answer): string {
  const conditions = [zero !== undefined && `0 ${zero}`, nil !== undefined && `nil ${nil}`, missing !== undefined && `missing ${missing}`]
  const start = kind.type === 'key' ? 'with `enqueuedAt`: ' : ''
  return [start + says.charAt(0).toLowerCase() + says.slice(1), ...conditions.filter((each) => each !== false)].join('; ')
}

const SCALARS = {
  string: 'string',
  count: 'integer',
  number: 'number',
  boolean: 'boolean',
  true: 'true',
  time: 'time',
  stamp: 'time',
  duration: 'milliseconds',
  endless: 'milliseconds, or float64 infinity for none',
  forever: 'milliseconds',
  key: 'integer',
  id: 'JobKey',
  data: 'data',
  json: 'JSON as a string',
  fields: 'JSON as a string',
  value: 'value',
  backoff: 'Backoff',
} as const

function saidOf(kind: AnswerKind): string {
  switch (kind.type) {
    case 'choice':
      return `one of ${kind.words.map((word) => `\`${word}\``).join(' ')}`
    case 'list':
      return `array: ${saidOf(kind.of)}`
    case 'map':
      return `map by name: ${saidOf(kind.of)}`
    case 'record':
      return kind.name
    case 'options':
      return 'map'
    default:
      return SCALARS[kind.type]
  }
}
