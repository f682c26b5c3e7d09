/** The tables of docs/protocol.md, from the schemas that the code reads and writes by. */
import { ERROR_CODES, errorFrom, OPERATIONS, type Operation, SCOPES } from '@millrace/core'
import { BOUNDS } from '../msgpack/reader.ts'
import { DELIVERY, ENQUEUED, EVENTS, GRANT, NOTICE, REPLIES } from '../schema/deliveries.ts'
import {
  BACKOFF,
  CHANGES,
  DEBOUNCE,
  DEFAULTS,
  EVENT_FILTER,
  FAILED_PLACE,
  FILTER,
  FLOW_CURSOR,
  FLOW_NODE,
  HANDLER,
  HELD_KEY,
  JOB_KEY,
  LOG_LINE,
  NEW_JOB,
  PLACE_CHANGES,
  RUN_CAUSE,
  RUN_ERROR,
  RUN_KEY,
  SCHEDULE_SPEC,
  SESSION,
  SOURCE_ENTRY,
  THROTTLE,
  UNIQUE,
  VITALS,
  WANTED_WAIT,
} from '../schema/jobs.ts'
import { FIELDS_MAX } from '../schema/kinds.ts'
import { CLIENT, LIMITS, MESSAGE } from '../schema/messages.ts'
import type { Field, RecordKind } from '../schema/record.ts'
import { COMMAND } from '../schema/requests.ts'
import { ALLOWED, type MessageType, maySend, type SessionState } from '../states.ts'
import { answerRecords, answerRows } from './answers.ts'
import { settingRows } from './settings.ts'

type AnyRecord = RecordKind<never>

const RECORDS: readonly AnyRecord[] = [
  CLIENT,
  LIMITS,
  NEW_JOB,
  BACKOFF,
  UNIQUE,
  DEBOUNCE,
  THROTTLE,
  SOURCE_ENTRY,
  FLOW_NODE,
  SESSION,
  VITALS,
  HANDLER,
  DEFAULTS,
  RUN_KEY,
  WANTED_WAIT,
  RUN_ERROR,
  RUN_CAUSE,
  LOG_LINE,
  JOB_KEY,
  CHANGES,
  PLACE_CHANGES,
  FAILED_PLACE,
  FLOW_CURSOR,
  HELD_KEY,
  FILTER,
  EVENT_FILTER,
  SCHEDULE_SPEC,
  ENQUEUED,
  GRANT,
] as unknown as readonly AnyRecord[]

/** Messages that have one field. */
const SHOWN_ELSEWHERE = new Set(['requests', 'delivery', 'pong'])

/** Returns the tables, by the name of the block that each stands in. */
export function tables(): ReadonlyMap<string, string> {
  const all = new Map<string, string>()
  all.set('messages', messages())
  all.set('states', states())
  all.set('operations', operations())
  all.set('notices', variants(NOTICE.variants))
  all.set('replies', variants(REPLIES as never))
  all.set(
    'scopes',
    table(
      ['number', 'scope'],
      SCOPES.map((scope, code) => [String(code), `\`${scope}\``]),
    ),
  )
  all.set('errors', errors())
  all.set('bounds', bounds())
  all.set('settings', table(['setting', 'holds', 'meaning'], settingRows()))
  for (const kind of [...RECORDS, DELIVERY as unknown as AnyRecord]) all.set(kind.name, fieldsOf(kind, 0))
  for (const kind of Object.values(EVENTS)) all.set(kind.name, fieldsOf(kind as unknown as AnyRecord, kind === EVENTS.STAMP ? 0 : 2))
  for (const [type, { fields }] of Object.entries(MESSAGE.variants)) {
    if (!SHOWN_ELSEWHERE.has(type)) all.set(`message ${type}`, fieldsOf(fields as unknown as AnyRecord, 1))
  }
  for (const [name, kind] of answerRecords(new Set(all.keys()))) all.set(name, table(['field', 'holds', 'meaning'], answerRows(kind)))
  return all
}

/** Returns the names of all kinds of objects that tables mention. */
export function namesSpokenOf(all: ReadonlyMap<string, string>): Set<string> {
  const cells = [...all.values()].flatMap((text) => [...text.matchAll(/(?:^|[ :|[])([A-Z][a-z]+[A-Za-z]*)(?= |\]|$)/gm)])
  return new Set(cells.map((match) => match[1] as string))
}

function messages(): string {
  const rows = Object.entries(MESSAGE.variants).map(([type, { code, fields }]) => {
    const ends = (['client', 'server'] as const).filter((role) => maySend(role, type as MessageType))
    return [String(code), `\`${type}\``, ends.join(', '), brief(fields as unknown as AnyRecord)]
  })
  return table(['type', 'name', 'from', 'fields'], rows)
}

function states(): string {
  const types = Object.keys(MESSAGE.variants) as MessageType[]
  const names = Object.keys(ALLOWED) as SessionState[]
  const rows = names.flatMap((state) =>
    (['client', 'server'] as const).map((role) => [state, role, ...types.map((type) => ALLOWED[state][role][type] ?? '✗')]),
  )
  return table(['state', 'from', ...types.map((type) => `\`${type}\``)], rows)
}

function operations(): string {
  const rows = Object.entries(COMMAND.variants).map(([op, { code, fields }]) => [
    String(code),
    `\`${op}\``,
    scopesOf(op as Operation),
    brief(fields as unknown as AnyRecord),
  ])
  return table(['op', 'name', 'scope', 'fields behind `id` and `op`'], rows)
}

function scopesOf(op: Operation): string {
  const { scopes } = OPERATIONS[op]
  return scopes === SCOPES ? 'any' : scopes.join(', ')
}

function variants(of: Readonly<Record<string, { readonly code: number; readonly fields: unknown }>>): string {
  const rows = Object.entries(of).map(([word, { code, fields }]) => [String(code), `\`${word}\``, brief(fields as AnyRecord)])
  return table(['kind', 'name', 'fields behind it'], rows)
}

function errors(): string {
  const rows = ERROR_CODES.map((code) => [`\`${code}\``, errorFrom({ code, message: '' }).retryable ? 'yes' : ''])
  return table(['code', 'the same request may succeed later'], rows)
}

function bounds(): string {
  return table(
    ['what', 'at most'],
    [
      ['arrays and maps within a value that is not described here', `${BOUNDS.depth} deep`],
      ['items of an array that is not described here', BOUNDS.items.toLocaleString('en-US')],
      ['keys of a map', String(BOUNDS.keys)],
      ['length of a key', `${BOUNDS.keyLength} UTF-16 units`],
      ['fields of an object, with those that a reader does not know', String(FIELDS_MAX)],
    ],
  )
}

function fieldsOf({ fields }: AnyRecord, lead: number): string {
  const rows = Object.entries(fields as Readonly<Record<string, Field<unknown>>>).map(([name, field], index) => [
    String(lead + index),
    `\`${name}\``,
    field.absent === 'never' ? field.kind.says : `${field.kind.says}; or nil`,
    field.note,
  ])
  return table(['place', 'field', 'holds', 'meaning'], rows)
}

/** Returns the fields in one cell, each with its note behind it. */
function brief({ fields }: AnyRecord): string {
  const said = Object.entries(fields as Readonly<Record<string, Field<unknown>>>).map(([name, { kind, absent, note }]) => {
    const holds = absent === 'never' ? kind.says : `${kind.says}; or nil`
    return `\`${name}\` [${holds}]${note === '' ? '' : ` ${note}`}`
  })
  return said.join(' · ')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
