/** The tables of the maps that answer questions, from the rows of their fields. */
import {
  type Answer,
  type AnswerKind,
  type AnswerRecord,
  ATTACHED_WORKER,
  EXPORT,
  FAILURE,
  FLOW_SUMMARY,
  HISTORY_POINT,
  KEPT_MESSAGE,
  NUMBERED_LINE,
  QUEUE,
  QUEUE_KEYS,
  SCHEDULE_SET,
  STATS,
  STORED_EXPLANATION,
  STORED_FLOW_JOB,
  STORED_HISTORY,
  STORED_JOB,
  STORED_SCHEDULE,
  STORED_STEP,
  STORED_WAIT,
} from '@millrace/core/answers'

/** Answers that the text names; those within them have tables too. */
const ANSWERS: readonly AnswerRecord[] = [
  STORED_JOB,
  NUMBERED_LINE,
  STORED_STEP,
  STORED_WAIT,
  KEPT_MESSAGE,
  STORED_EXPLANATION,
  FLOW_SUMMARY,
  STORED_FLOW_JOB,
  QUEUE,
  QUEUE_KEYS,
  STATS,
  HISTORY_POINT,
  STORED_HISTORY,
  FAILURE,
  ATTACHED_WORKER,
  STORED_SCHEDULE,
  SCHEDULE_SET,
  EXPORT,
]

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

function holds(row: Answer): string {
  return [saidOf(row.kind), ...absencesOf(row).map(([word]) => word)].join('; or ')
}

function meaning(row: Answer): string {
  // Abbreviations stay as they are.
  const says = row.says.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
  return [row.kind.type === 'key' ? `with \`enqueuedAt\`: ${says}` : says, ...absencesOf(row).map((each) => each.join(' '))].join('; ')
}

/** Returns how the wire says that there is no value, each with its condition. */
function absencesOf(row: Answer): readonly (readonly [word: string, condition: string])[] {
  const all = [
    ['0', row.zero],
    ['nil', row.nil ?? row.null],
    ['missing', row.missing],
  ] as const
  return all.flatMap(([word, condition]) => (condition === undefined ? [] : [[word, condition] as const]))
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
