/**
 * Writes `_options.py`: the options of jobs, schedules, queues and bulk calls, and the filters of lists, with their types. A method
 * documents a group of them where its words say `{Group}`.
 */
import {
  FILTER_FIELDS,
  FILTER_OPTIONS,
  type FilterOption,
  JOB_TEXTS,
  QUEUE_OPTIONS,
  type Row,
  RUN_OPTIONS,
  SCHEDULE_OPTIONS,
} from '@millrace/core'
import * as jobs from '../../../packages/wire/src/schema/jobs.ts'
import type { Field } from '../../../packages/wire/src/schema/record.ts'
import { COMMAND } from '../../../packages/wire/src/schema/requests.ts'
import { NAMES } from './requests.ts'
import { fieldsOf, GENERATED, quoted, snake, wordsOf } from './schema.ts'
import { boundsOf, inPython, lowered, rowDoc, wrapped } from './words.ts'

/** An option of a method. */
interface Option {
  readonly name: string
  readonly type: string
  readonly preset: string
  readonly doc: string
}

/** Types of options that are not a single word or number. */
const TYPES: Readonly<Record<string, string>> = {
  unique: 'Optional[Unique]',
  backoff: 'Optional[Mapping[str, Any]]',
  debounce: 'Optional[Mapping[str, Any]]',
  throttle: 'Optional[Mapping[str, Any]]',
  tags: 'Optional[Iterable[str]]',
  meta: 'Any',
  data: 'Any',
  checkpoint: 'Any',
  types: 'Optional[Iterable[str]]',
  job: 'Optional[JobId]',
  keep: 'Union[None, Seconds, str]',
  state: 'Union[None, str, Sequence[str]]',
}

const SCALARS: readonly (readonly [RegExp, string])[] = [
  [/^time/, 'Time'],
  [/^milliseconds/, 'Seconds'],
  [/^boolean/, 'bool'],
  [/^integer(?!: the hex)/, 'int'],
  [/^JobKey/, 'JobId'],
]

function typeOf(name: string, { kind: { says }, absent }: Field<unknown>): string {
  if (absent === 'never' && wordsOf(says) !== undefined) return 'str'
  return TYPES[name] ?? `Optional[${SCALARS.find(([start]) => start.test(says))?.[1] ?? 'str'}]`
}

/** The forms of values in Python, which the sentences of the tables leave to each language. */
const FORMS: Readonly<Record<string, string>> = {
  run_at: 'not before this time: seconds since 1970, or a datetime',
  unique:
    "a key that at most one live job of the name has, or (key, 'skip' | 'replace' | 'reschedule' | 'error'), with 'start' as a third item to hold it until the start alone",
  backoff: `a dict of type ('exponential', 'linear' or 'fixed'), delay, factor (of 'exponential', ${boundsOf('factor', jobs.BACKOFF.fields.factor.kind.says)}), max_delay, and jitter (0 to 1, 'equal' or 'full'), default ${inPython(RUN_OPTIONS.backoff.preset)}`,
  debounce: "a dict of key, delay, mode ('trailing' | 'leading'), max_delay; without throttle, idempotency_key, unique, delay and run_at",
  throttle: 'a dict of key, period; without idempotency_key and unique',
  tags: 'strings to find the job by',
  meta: 'JSON beside the data',
}

const sentence = (row: Row | undefined, note: string) => inPython(row === undefined ? note : lowered(row.says))
const ROWS: Readonly<Record<string, Row>> = { ...RUN_OPTIONS, ...JOB_TEXTS }
const rowOf = (camel: string): Row | undefined => ROWS[camel]

function optionDoc(camel: string, { kind: { says }, note }: Field<unknown>): string {
  const name = snake(camel)
  const bounds = boundsOf(name, says)
  const row = rowOf(camel)
  const preset = row?.preset === undefined || name === 'backoff' ? '' : `, default ${inPython(row.preset).replaceAll('"', "'")}`
  const form = (FORMS[name] ?? sentence(row, note)).replace(/; nil: 24 hours$/, '; default a day')
  return `\`${name}\`: ${form}${bounds === '' ? '' : `; ${bounds}`}${preset}.`
}

const timeOf = (name: string, says: string) => (says === 'time' && FORMS[name] === undefined ? ['seconds since 1970, or a datetime'] : [])

/** An option of a call that is a field of its request, or of its changes. */
function fieldOption(camel: string, field: Field<unknown>, name = snake(camel)): Option {
  const { kind, note, absent } = field
  const isFlag = kind.says === 'boolean' && (absent === 'value' || note.startsWith('true:'))
  const told = note.startsWith('JSON text') ? '' : note.replace(/^true: /, '').replace(/\bnil: /, 'by default ')
  const says = [sentence(rowOf(camel), told) || FORMS[name] || '', boundsOf(name, kind.says), ...timeOf(name, kind.says)].filter(
    (part) => part !== '',
  )
  const words = wordsOf(kind.says)
  const isSet = kind.says === 'array of one: data'
  return {
    name,
    type: isFlag ? 'bool' : typeOf(name, field),
    preset: isFlag ? 'False' : isSet ? 'UNSET' : words !== undefined && absent === 'never' ? quoted(words[0] as string) : 'None',
    doc: says.length === 0 ? '' : `\`${name}\`: ${says.join('; ')}.`,
  }
}

const fieldOptions = (fields: object, names: Readonly<Record<string, string>> = {}) =>
  Object.entries(fieldsOf({ fields })).map(([name, field]) => fieldOption(name, field, names[name] ?? snake(name)))

function scheduleOptions(): readonly Option[] {
  const fields = { ...jobs.SCHEDULE_SPEC.fields, ...COMMAND.variants.upsertSchedule.fields.fields } as Readonly<
    Record<string, Field<unknown>>
  >
  const { absent, updatedAt, ...others } = NAMES['upsertSchedule'] as { readonly absent: string; readonly updatedAt: string }
  if (Object.keys(others).length > 0) throw new Error('a further option of a schedule has a name of its own')
  const rows = { ...Object.fromEntries(Object.keys(jobs.SCHEDULE_SPEC.fields).map((name) => [name, null])), ...SCHEDULE_OPTIONS }
  return [
    ...Object.keys(rows).map((name) => ({
      ...fieldOption(name, fields[name] as Field<unknown>),
      doc: rowDoc(name, SCHEDULE_OPTIONS[name as keyof typeof SCHEDULE_OPTIONS]),
    })),
    fieldOption('absent', fields['absent'] as Field<unknown>, absent),
    fieldOption('updatedAt', fields['updatedAt'] as Field<unknown>, updatedAt),
  ]
}

const SETTING_TYPES: Readonly<Partial<Record<Row['kind']['type'], string>>> = {
  integer: 'int',
  duration: 'Seconds',
  record: 'Mapping[str, Any]',
  tiers: 'Mapping[str, Mapping[str, Any]]',
}

/** The limits of keys stand beside each other. */
function settings(): readonly Option[] {
  const { concurrencyLimit, sharedLimit, perKeyLimit, keyOrder, ...others } = QUEUE_OPTIONS
  return Object.entries({ concurrencyLimit, sharedLimit, perKeyLimit, keyOrder, ...others }).map(([name, row]) => ({
    name: snake(name),
    type: `Optional[${SETTING_TYPES[row.kind.type] ?? 'str'}]`,
    preset: 'None',
    doc: rowDoc(name, row),
  }))
}

const { idempotencyKey, idempotencyTtl } = COMMAND.variants.flow.fields.fields as unknown as Readonly<Record<string, Field<unknown>>>
const { step, from, to } = COMMAND.variants.history.fields.fields as unknown as Readonly<Record<string, Field<unknown>>>
const { limit, dryRun } = COMMAND.variants.deleteMany.fields.fields as unknown as Readonly<Record<string, Field<unknown>>>

/** Filters that `jobs` takes in their order, too. */
const POSITIONAL: ReadonlySet<string> = new Set(['state', 'queue', 'name', 'tag'])

const filterOption = (name: FilterOption): Option => ({
  ...fieldOption(name, fieldsOf(jobs.FILTER)[name] as Field<unknown>),
  doc: `\`${snake(name)}\`: jobs ${FILTER_FIELDS[name].says}.`,
})

const MANY = fieldOptions({ limit: { ...(limit as object), absent: 'property' }, dryRun })

/** Options that a method takes by name, as the groups that the functions behind it take. */
export const GROUPS: Readonly<Record<string, readonly Option[]>> = {
  JobChanges: fieldOptions(jobs.CHANGES.fields),
  ManyOptions: MANY,
  PlaceChanges: [...fieldOptions(jobs.PLACE_CHANGES.fields), ...MANY],
  ScheduleOptions: scheduleOptions(),
  QueueSettings: settings(),
  OnceOptions: fieldOptions({ idempotencyKey, idempotencyTtl }),
  HistoryOptions: fieldOptions({ step, from, to }, NAMES['history']),
  EventsFilter: fieldOptions(jobs.EVENT_FILTER.fields, { id: 'job' }),
  OtherFilters: FILTER_OPTIONS.filter((name) => !POSITIONAL.has(name)).map(filterOption),
}

function typedDict(name: string, base: string, doc: string, options: readonly Pick<Option, 'name' | 'type'>[]): string {
  return `class ${name}(${base}, total=False):
    """${wrapped(doc, '    ').trimStart()}"""

${options.map((option) => `    ${option.name}: ${option.type}\n`).join('')}`
}

function filters(): string {
  const says = (GROUPS['OtherFilters'] ?? []).map(({ doc }) => doc.slice(0, -1)).join('; ')
  return `${group('OtherFilters', `The filters that \`jobs\` takes by name alone. Times are seconds since 1970, or a datetime. ${says}.`)}

${typedDict(
  'JobFilter',
  'OtherFilters',
  `The jobs of a bulk call: those that match all that is given, or every job with \`all\` alone. \`state\` is one of STATES, or a list of some. \`search\` is a string that they contain. \`ids\` are the only jobs that may match; not with \`search\`, \`data\`, \`worker\`, \`error\` and \`fingerprint\`. docs/search.md describes the others.`,
  [
    ...FILTER_OPTIONS.filter((name) => POSITIONAL.has(name)).map(filterOption),
    { name: 'search', type: 'Optional[str]' },
    { name: 'ids', type: 'Optional[Iterable[JobId]]' },
    { name: 'all', type: 'bool' },
  ],
)}`
}

const group = (name: string, doc: string) => typedDict(name, 'TypedDict', doc, GROUPS[name] ?? [])

/** Returns the text of `_options.py`. */
export function options(): string {
  const fields = Object.entries(fieldsOf(jobs.NEW_JOB)).filter(([name]) => name !== 'name' && name !== 'data')
  const typed = fields.map(([name, field]) => ({ name: snake(name), type: typeOf(snake(name), field) }))
  return `"""The options of jobs, schedules, queues and bulk calls, and the filters of lists, with their types and documentation."""
${GENERATED}
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .encoding import NewJob, Seconds, Time, job
from .keys import JobId

if TYPE_CHECKING:
    # Type checkers know it without the package.
    from typing_extensions import Unpack as Unpack
else:
    Unpack = None

Unique = Union[str, Tuple[str, str], Tuple[str, str, str]]


${typedDict('JobOptions', 'TypedDict', 'The options of `new_job` and `enqueue`.', typed)}

def new_job(
    name: str,
    data: Any = None,
    *,
${typed.map(({ name, type }) => `    ${name}: ${type} = None`).join(',\n')},
) -> NewJob:
    """A job as it is asked for. Durations are in seconds, and None stands for the default: that of a worker for the name, of the queue, or
    of the engine, in this order.

${fields.map(([name, field]) => wrapped(optionDoc(name, field), '    ')).join('\n')}

    Raises TypeError, and Error (OPTION_TYPE) for a value that cannot be sent. The server checks the bounds: the call that sends the job
    raises Error (OPTION_TYPE, OPTION_RANGE), whose details are \`option\` and the \`limit\` that it broke."""
    given = locals()
    return job(given.pop("name"), given.pop("data"), given)


${group('QueueSettings', 'The settings of `configure_queue`. None removes one.')}

${group('ScheduleOptions', 'The options of `upsert_schedule`.')}

${group('JobChanges', 'The changes of `update`.')}

${group('ManyOptions', 'The options of calls that change many jobs.')}

${group('HistoryOptions', 'The options of `history` and `queues_history`.')}

${group('OnceOptions', 'The options of a call that happens once, however often it is repeated.')}

${group('EventsFilter', 'The events that `events` returns.')}

${group('PlaceChanges', 'The changes of `update_many`, and the options of such calls.')}

${filters()}`
}
