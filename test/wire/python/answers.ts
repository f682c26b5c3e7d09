/**
 * Writes what the Python client makes of answers: a class for each noun with its documentation, and a function that reads it. All comes
 * from the rows of answers; what Python has otherwise stands in `views.ts`.
 */
import type { Row } from '@millrace/core'
import type { Answer, AnswerKind } from '@millrace/core/answers'
import { GENERATED, snake } from './schema.ts'
import { CLASSES, type Own, TYPED_DICTS, VIEW_OF, type ViewClass } from './views.ts'
import { inPython, lowered, wrapped } from './words.ts'

interface Attribute {
  readonly name: string
  readonly type: string
  /** The expression that makes it of `said`. */
  readonly read: string
  readonly doc: string
  /** The answer may leave it out, and so may whoever makes the object. */
  readonly mayLack: boolean
}

/** Returns a name as Python has it: durations are in seconds there. */
export const nameIn = (name: string) => snake(name.replace(/Ms(?=[A-Z]|$)/, ''))

const SCALARS: Readonly<Record<string, string>> = {
  string: 'str',
  key: 'str',
  id: 'str',
  choice: 'str',
  count: 'int',
  number: 'float',
  duration: 'float',
  endless: 'Optional[float]',
  forever: 'Union[None, float, str]',
  boolean: 'bool',
  true: 'bool',
  time: 'datetime',
  stamp: 'datetime',
  fields: 'Dict[str, Any]',
  backoff: 'Dict[str, Any]',
  options: 'Dict[str, Any]',
}

function typeOf(kind: AnswerKind): string {
  if (kind.type === 'list') return `List[${typeOf(kind.of)}]`
  if (kind.type === 'map') return `Dict[str, ${typeOf(kind.of)}]`
  if (kind.type !== 'record') return SCALARS[kind.type] ?? 'Any'
  return VIEW_OF[kind.name] ?? `Dict[str, ${commonTypeOf(kind.rows) ?? 'Any'}]`
}

/** Returns the type of all fields if it is one, and needs no reading. */
function commonTypeOf(rows: Readonly<Record<string, Answer>>): string | undefined {
  const [first, ...others] = new Set(Object.values(rows).map((row) => (isAsSent(row.kind) ? orNone(row, typeOf(row.kind)) : 'Any')))
  return others.length > 0 || first === 'Any' ? undefined : first
}

/** True if Python has the value as it is sent. */
function isAsSent(kind: AnswerKind): boolean {
  if (kind.type === 'list' || kind.type === 'map') return isAsSent(kind.of)
  if (kind.type === 'record') {
    const view = VIEW_OF[kind.name]
    return view === undefined ? commonTypeOf(kind.rows) !== undefined : TYPED_DICTS.some(({ name }) => name === view)
  }
  return ['string', 'choice', 'count', 'number', 'boolean', 'value'].includes(kind.type)
}

const READERS: Readonly<Record<string, string>> = {
  key: 'job_id',
  id: 'job_id',
  time: 'moment',
  stamp: 'moment',
  duration: 'seconds',
  endless: 'seconds',
  forever: 'keep',
  data: 'shown',
  json: 'shown',
  fields: 'log_fields',
  backoff: 'backoff',
  options: 'given',
  true: 'bool',
}

/** Functions that take None as well. */
const TAKES_NONE = new Set(['when', 'seconds', 'keep', 'shown', 'log_fields', 'bool', 'plain'])

function readerOf(kind: AnswerKind, isOptional: boolean): string {
  if (kind.type === 'time' && isOptional) return 'when'
  if (kind.type !== 'record') return READERS[kind.type] ?? ''
  const view = VIEW_OF[kind.name]
  return view === undefined ? 'plain' : (CLASSES.find(({ name }) => name === view)?.reader ?? '')
}

function readOf(row: Answer, name: string): string {
  const isOptional = mayBeNone(row)
  const there = row.from ?? name
  const mayLack = (row.missing ?? row.nil ?? row.null) !== undefined || row.kind.type === 'endless'
  const said = mayLack ? `said.get("${there}")` : `said["${there}"]`
  if (row.kind.type === 'key') return 'job_id(said)'
  if (row.otherwise !== undefined && typeof row.otherwise === 'number') return `said.get("${there}", ${row.otherwise})`
  if (name.endsWith('LeftOut')) return `${said} or 0`
  return readingOf(row.kind, said, isOptional)
}

function readingOf(kind: AnswerKind, said: string, isOptional: boolean): string {
  if (isAsSent(kind)) return said
  if (kind.type === 'list') return `[${readingOf(kind.of, 'each', false)} for each in ${said}${isOptional ? ' or []' : ''}]`
  if (kind.type === 'map') return `{name: ${readingOf(kind.of, 'each', false)} for name, each in ${said}.items()}`
  const reader = readerOf(kind, isOptional)
  return isOptional && !TAKES_NONE.has(reader) ? `or_none(${reader}, ${said})` : `${reader}(${said})`
}

function mayBeNone({ zero, nil, missing, otherwise, ...row }: Answer): boolean {
  return otherwise === undefined && (zero ?? nil ?? missing ?? row.null) !== undefined
}

/** Kinds, and lists of what must be read, that have an empty value of their own in place of None. */
function isNeverNone(name: string, { kind }: Answer): boolean {
  return ['true', 'fields', 'data', 'json'].includes(kind.type) || name.endsWith('LeftOut') || (kind.type === 'list' && !isAsSent(kind))
}

function orNone(row: Answer, type: string): string {
  return mayBeNone(row) && !/^(?:Any|Optional|Union)/.test(type) ? `Optional[${type}]` : type
}

const UNITS: Readonly<Record<string, string>> = {
  duration: ' (seconds)',
  endless: ' (seconds, None for no limit)',
  forever: " (seconds, or 'forever')",
}

function docOf(name: string, row: Answer, shown: string, says = row.says): string {
  const absent = [row.nil, row.null, row.missing, row.zero].filter((each) => each !== undefined)
  const none = mayBeNone(row) && !isNeverNone(name, row) ? `; None ${absent.join(', and ')}` : ''
  return `\`${shown}\`${UNITS[row.kind.type] ?? ''}: ${inPython(lowered(says) + none)}.`
}

function attributeOf(name: string, row: Answer, own: Own): Attribute {
  const shown = own.name ?? nameIn(name)
  const type = isNeverNone(name, row) ? typeOf(row.kind) : orNone(row, typeOf(row.kind))
  return {
    name: shown,
    type: own.type ?? type,
    read: own.read ?? readOf(row, name),
    doc: docOf(name, row, shown, own.says),
    mayLack: row.missing !== undefined && (own.type ?? type).startsWith('Optional'),
  }
}

function attributesOf({ rows, own = {} }: ViewClass): readonly Attribute[] {
  return Object.entries(rows).map(([name, row]) => attributeOf(name, row, own[name] ?? {}))
}

function documentation(says: string, attributes: readonly Attribute[]): string {
  const lines = attributes.map(({ doc }) => wrapped(doc, '    ').replaceAll('\n    ', '\n        '))
  return `"""${wrapped(says, '    ').trimStart()}\n\n${lines.join('\n')}\n    """`
}

function classOf(view: ViewClass): string {
  const attributes = attributesOf(view)
  // Attributes at the end that an answer may lack have a default: Python allows none before one without it.
  const last = attributes.findLastIndex(({ mayLack }) => !mayLack)
  const fields = attributes.map(({ name, type }, index) => `    ${name}: ${type}${index > last ? ' = None' : ''}\n`)
  return `@dataclass(frozen=True)
class ${view.name}:
    ${documentation(view.says, attributes)}

${fields.join('')}`
}

function functionOf(view: ViewClass): string {
  const reads = attributesOf(view).map(({ name, read }) => `        ${name}=${read},\n`)
  return `def ${view.reader}(said: Fields${view.takes ?? ''}) -> ${view.name}:
${view.first ?? ''}    return ${view.name}(
${reads.join('')}    )
`
}

function typedDictOf(name: string, says: string, rows: Readonly<Record<string, Answer>>): string {
  const attributes = Object.entries(rows).map(([each, row]) => attributeOf(each, { ...row, missing: undefined } as never, {}))
  const docs = Object.entries(rows).map(([each, row]) => attributeOf(each, row, {}))
  return `class ${name}(TypedDict, total=False):
    ${documentation(
      says,
      docs.map((each) => ({ ...each, doc: each.doc.replace('; None ', '; absent ') })),
    )}

${attributes.map(({ name: each, type }) => `    ${each}: ${type}\n`).join('')}`
}

/** Kinds that a dict's fields are read by. The others are as they are sent. */
const READ_IN_DICTS = new Set(['time', 'stamp', 'duration', 'endless', 'forever', 'backoff', 'tiers', 'data', 'json'])

const isNested = ({ type }: AnswerKind) => ['list', 'map', 'record', 'options'].includes(type)

/** Returns the kinds of the fields in answers that stay dicts, by their names on the wire. */
function kindsInDicts(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const add = (name: string, type: string): void => {
    if (!READ_IN_DICTS.has(type)) return
    const known = found.get(name)
    if (known !== undefined && known !== type)
      throw new Error(`${name} is a ${known} and a ${type} in dicts of Python: one needs another name`)
    found.set(name, type)
  }
  const addOption = (name: string, kind: Row['kind']): void => {
    if (kind.type === 'record') for (const [each, field] of Object.entries(kind.fields)) addOption(each, field.kind)
    else if (kind.type === 'tiers') addOption(name, kind.of)
    add(name, kind.type === 'duration' && kind.forever ? 'forever' : kind.type === 'duration' && kind.endless ? 'endless' : kind.type)
  }
  const addKind = (name: string, kind: AnswerKind): void => {
    if (kind.type === 'list' || kind.type === 'map') {
      if (isNested(kind.of)) addKind(name, kind.of)
    } else if (kind.type === 'options') for (const [each, row] of Object.entries(kind.rows)) addOption(each, row.kind)
    else if (kind.type === 'record' && !(kind.name in VIEW_OF)) for (const [each, row] of Object.entries(kind.rows)) addKind(each, row.kind)
    else if (kind.type !== 'record') add(name, kind.type)
  }
  for (const { rows } of CLASSES) for (const [name, { kind }] of Object.entries(rows)) if (isNested(kind)) addKind(name, kind)
  for (const [name, type] of Object.entries(OTHERS)) add(name, type)
  return found
}

/** Fields that no row of an option names: those of a scheduled job, and of a retention as it is in force. */
const OTHERS = { meta: 'json', data: 'data', ageMs: 'duration' }

/** Returns the text of `_kinds.py`. */
export function kinds(): string {
  const rows = [...kindsInDicts()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, type]) => `    "${name}": "${type}",\n`)
  return `"""The kinds of the fields of answers that stay dicts, by their names as they are sent."""
${GENERATED}
KINDS = {
${rows.join('')}}
`
}

const GAP = `def gap(said: Fields) -> Event:
    """The cursor behind it is the event before the first that the journal has."""
    return Event(said["resumesAt"] - 1, "gap", after=said["after"], resumes_at=said["resumesAt"])
`

const HEAD = `${GENERATED}
from __future__ import annotations
`

const CLASSES_HEAD = `${HEAD}
from dataclasses import dataclass
from datetime import datetime
from typing import `

/** The names of typing that a text has. */
function typingIn(text: string): string {
  return ['Any', 'Dict', 'List', 'Optional', 'TypedDict', 'Union'].filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')
}

/** Returns the text of `_views.py`, or of `_figures.py`. */
export function views(module: ViewClass['module']): string {
  const dicts = module === '_views' ? TYPED_DICTS.map(({ name, says, rows }) => typedDictOf(name, says, rows)) : []
  const own = CLASSES.filter((each) => each.module === module)
  const text = [...dicts, ...own.map(classOf)].join('\n\n')
  const names = [...(module === '_views' ? TYPED_DICTS : []), ...own].map(({ name }) => `"${name}"`).toSorted()
  return `"""Answers about ${ABOUT[module]}, as Python has them: data is decoded, times are datetimes in UTC, durations are in seconds, and ids are strings.
None stands for a value that is not there, and for a duration without an end."""
${CLASSES_HEAD}${typingIn(text)}

__all__ = [
${wrapped(names.join(', '), '    ')},
]


${text}`
}

const ABOUT = { _views: 'jobs and events', _figures: 'flows, queues, workers, schedules and the engine' }

/** Returns the text of `_readers.py`. */
export function readers(): string {
  const read = CLASSES.filter(({ reader }) => reader !== undefined)
  const from = (module: ViewClass['module']) =>
    read
      .flatMap((each) => (each.module === module ? [each.name] : []))
      .toSorted()
      .join(', ')
  return `"""Makes the views of answers: each field by its kind."""
${HEAD}
from ._figures import (
${wrapped(from('_figures'), '    ')},
)
from ._views import ${from('_views')}
from .data import shown
from .reading import Fields, backoff, event_job, given, job_id, keep, log_fields, moment, or_none, plain, progress_of, seconds, when


${[...read.map(functionOf), GAP].join('\n\n')}`
}
