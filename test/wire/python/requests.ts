/**
 * Writes the fields of the requests that the Python client makes, by their names there. A field has the name of the protocol in small
 * letters, but for a cursor (`mark`), the size of a page (`page`), the id of a job (`job`) and those of `NAMES`.
 */
import { OPERATIONS, type Operation } from '@millrace/core'
import { EVENT_FILTER, SESSION } from '../../../packages/wire/src/schema/jobs.ts'
import type { Field } from '../../../packages/wire/src/schema/record.ts'
import { COMMAND } from '../../../packages/wire/src/schema/requests.ts'
import { encoderOf, fieldsOf, GENERATED, quoted, snake, tuple, wordsOf } from './schema.ts'

type AnyField = Field<unknown>

/** The names that the methods of Python give to fields, beside the rules of `nameOf`. */
export const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  attach: { worker: 'name', maxConcurrency: 'concurrency' },
  byKey: { of: 'job', from: 'from_' },
  get: { payloadBytes: 'payload' },
  getByKey: { of: 'job', payloadBytes: 'payload' },
  list: { payloadBytes: 'payload' },
  history: { from: 'start_at', to: 'end_at', busiest: 'limit' },
  pause: { job: 'name', for: 'duration' },
  queues: { queue: 'name' },
  retry: { from: 'from_' },
  send: { value: 'data', name: 'message' },
  upsertSchedule: { absent: 'create_only', updatedAt: 'unchanged_since' },
}

const CURSORS = ['after', 'before', 'from', 'upTo']

const isCursor = (op: string, name: string, { absent }: AnyField) =>
  CURSORS.includes(name) && absent === 'property' && NAMES[op]?.[name] === undefined

function nameOf(op: string, name: string, field: AnyField, fields: Readonly<Record<string, AnyField>>): string {
  const known = NAMES[op]?.[name]
  if (known !== undefined) return known
  if (isCursor(op, name, field)) return 'mark'
  if (name === 'id' && field.kind.says === 'JobKey') return 'job'
  const hasPages = Object.values(fields).some(({ note }) => /of the page before|lines behind/.test(note))
  return name === 'limit' && hasPages ? 'page' : snake(name)
}

/** How a field is made of what people give. Of words in brackets, the first one is what nil means. */
function kindOf(op: string, name: string, field: AnyField): string {
  const { kind, note, absent, value } = field
  if (name === 'payloadBytes') return quoted('payload')
  const words = wordsOf(kind.says)
  if (words !== undefined) return note.endsWith(`nil: ${words[0]}`) ? `[${words.map(quoted).join(', ')}]` : tuple(words)
  if (kind.says === 'boolean' && (note.startsWith('true:') || value === false)) return quoted('flag')
  if (/^array of up to \d+: 0 /.test(kind.says)) return quoted('event_types')
  const record = /^(array of up to \S+: )?(map|[A-Z]\w+)/.exec(kind.says)?.[0].replace(/ up to \S+:/, '')
  if (isCursor(op, name, field)) return quoted('given')
  if (record === 'JobKey' && absent === 'property') return quoted('any_job')
  return record === undefined ? encoderOf('', name, field) : quoted(RECORDS[record] ?? 'given')
}

/** The kinds of records that people give in a form of their own. */
const RECORDS: Readonly<Record<string, string>> = { JobKey: 'job', HeldKey: 'held', NewJob: 'new_job', 'array of NewJob': 'new_jobs' }

/** All operations but those of workers, which `session` makes by hand. */
const CALLS = Object.entries(COMMAND.variants)
  .filter(([op]) => !OPERATIONS[op as Operation].scopes.includes('work'))
  .map(([op, { fields }]) => ({ op, fields: fieldsOf(fields) }))

/** Returns the text of `_calls.py`. */
export function requests(): string {
  const placed = (op: string, fields: Readonly<Record<string, AnyField>>) =>
    Object.entries(fields)
      .map(([name, field], place) => `${quoted(nameOf(op, name, field, fields))}: (${place}, ${kindOf(op, name, field)})`)
      .join(', ')
  const calls = CALLS.map(({ op, fields }) => `    ${quoted(op)}: {${placed(op, fields)}},\n`)
  const named = [...CALLS, { op: 'attach', fields: fieldsOf(SESSION) }].flatMap(({ op, fields }) => {
    const others = Object.entries(fields).filter(
      ([name, field]) => !isCursor(op, name, field) && nameOf(op, name, field, fields) !== snake(name),
    )
    const rows = others.map(([name, field]) => `${quoted(name)}: ${quoted(nameOf(op, name, field, fields))}`)
    return rows.length === 0 ? [] : [`    ${quoted(op)}: {${rows.join(', ')}},\n`]
  })
  return `"""The fields of requests, by the names that they have here."""
${GENERATED}
from typing import Dict

from ._schema import Fields

# Of words in brackets, the first one is left out.
CALLS: Dict[str, Fields] = {
${calls.join('')}}

EVENT_FILTER: Fields = {${placed('events', fieldsOf(EVENT_FILTER))}}

# The names here of fields that have others in the messages of a server.
RENAMED: Dict[str, Dict[str, str]] = {
${named.join('')}}
`
}
