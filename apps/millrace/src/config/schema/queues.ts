/** Settings of queues and schedules, as `queues.configure` and `schedules.upsert` take them. The engine's own checks apply. */
import { systemCalendar } from '@millrace/client/calendar'
import {
  booleanOption,
  type Duration,
  durationOption,
  type EnqueueOptions,
  type KeepOptions,
  type Kind,
  nameOption,
  type OptionTypeError,
  QUEUE_OPTIONS,
  type QueueOptions,
  type Row,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  SCHEDULE_OPTIONS,
  type ScheduleOptions,
  timeOption,
  validateQueueOptions,
  validateScheduleOptions,
  withCommas,
} from '@millrace/core'
import { z } from 'zod'
import { defined } from '../../defined.ts'
import { checked, read, section, setting, text } from './setting.ts'

const ofQueue = <Value>(name: string) => checked<Value>((value) => validateQueueOptions({ [name]: value }))
const ofKeep = (state: string) => checked<KeepOptions>((value) => validateQueueOptions({ retention: { [state]: value } }))
const ofDefaults = <Value>(name: string) => checked<Value>((value) => validateQueueOptions({ defaults: { [name]: value } }))

/** JSON and the environment have no word for it. */
export const endless = (option: string, min: number) =>
  read<number, Duration>((value) =>
    durationOption(option, value === 'Infinity' ? Number.POSITIVE_INFINITY : value, { min, infinity: true }),
  )

const textOf = ({ kind, says, preset }: Row) => `${says}${boundsOf(kind)}.${preset === undefined ? '' : ` Default ${preset}.`}`

/** The settings of `[defaults]` and of each queue: core's table of job options, without the queue itself. */
export const jobDefaults = section(
  Object.fromEntries(
    RUN_OPTION_NAMES.filter((name) => name !== 'queue').map((name) => {
      const row: Row = RUN_OPTIONS[name]
      const { kind } = row
      const check = kind.type === 'duration' && kind.endless !== undefined ? endless(name, kind.min) : ofDefaults<unknown>(name)
      return [name, setting<z.ZodType>(check, textOf(row))]
    }),
  ),
)

function boundsOf(kind: Kind): string {
  switch (kind.type) {
    case 'integer':
      return `: ${withCommas(kind.min)} to ${withCommas(kind.max)}`
    case 'backoff':
      return ': `{ type, delay, factor, maxDelay, jitter }`, type exponential, linear or fixed'
    case 'duration':
      if (kind.forever === true) return ": a duration, or 'forever'"
      return kind.endless === undefined ? '' : ': a duration, or Infinity'
    case 'keep':
      return ': a duration, `{ age, count }`, or `forever`'
    case 'record':
      return `: \`{ ${Object.keys(kind.fields).join(', ')} }\``
    case 'tiers':
      return `: \`{ gold: { ${Object.keys(kind.of.fields).join(', ')} } }\``
    case 'time':
      return ': ISO 8601 with its zone'
    case 'name':
    case 'text':
    case 'choice':
    case 'boolean':
    case 'cron':
    case 'zone':
      return ''
  }
}

type Name = keyof QueueOptions

/** Core's table of a queue's settings. Those of ended jobs are a section, and so are the defaults of its jobs. */
function rowSetting([name, row]: readonly [string, Row]): readonly [string, z.ZodType] {
  if (name === 'defaults') return [name, jobDefaults]
  if (name !== 'retention') return [name, setting<z.ZodType>(ofQueue(name), textOf(row))]
  const keeps = Object.entries(QUEUE_OPTIONS.retention.kind.fields)
  return [name, section(Object.fromEntries(keeps.map(([state, keep]) => [state, setting<z.ZodType>(ofKeep(state), textOf(keep))])))]
}

/** A start applies it, so both words do something. */
const pausedText = (noun: string) => `True pauses the ${noun} at each start, false resumes it.`

const settings = section({
  ...(Object.fromEntries(Object.entries<Row>(QUEUE_OPTIONS).map(rowSetting)) as {
    readonly [Setting in Name]: z.ZodType<NonNullable<QueueOptions[Setting]>>
  }),
  paused: setting(
    read<boolean, boolean>((value) => booleanOption('paused', value)),
    pausedText('queue'),
  ),
})

export const queue = settings.superRefine(({ paused: _paused, retention: _retention, defaults: _defaults, ...limits }, context) =>
  together(context, limits, validateQueueOptions),
)

/** A Date, milliseconds, or ISO 8601 with its zone. */
const time = (option: string) => read<Date, Date | number | string>((value) => new Date(timeOption(option, value)))

const plain = <Value>() => checked<Value>(() => {})

/** Each start sets all of them. They are checked together. */
const scheduleSetting = ([name, row]: readonly [string, Row]): readonly [string, z.ZodType] => [
  name,
  setting<z.ZodType>(row.kind.type === 'time' ? time(name) : plain<unknown>(), name === 'paused' ? pausedText('schedule') : textOf(row)),
]

export const schedule = z
  .strictObject({
    ...(Object.fromEntries(Object.entries<Row>(SCHEDULE_OPTIONS).map(scheduleSetting)) as {
      readonly [Name in keyof ScheduleOptions]: z.ZodType<NonNullable<ScheduleOptions[Name]>>
    }),
    job: setting(text('job'), 'Name of its jobs. Required.'),
    data: setting(plain<unknown>(), 'Data of its jobs.'),
    queue: setting(
      read<string, string>((value) => nameOption('queue', value)),
      'Queue of its jobs.',
    ),
    options: setting(plain<EnqueueOptions>(), 'Other options of its jobs, as for an enqueue: priority, maxAttempts, tags ...'),
  })
  .superRefine(({ job, data: _data, queue: _queue, options: _options, ...times }, context) => {
    if (job === undefined) context.addIssue({ code: 'custom', message: 'a schedule names its job', path: ['job'] })
    together(context, times, (given) => validateScheduleOptions(given, systemCalendar))
  })

/** Reports what a check of the engine finds wrong with settings that are given together, at the setting that it names. */
function together(context: z.RefinementCtx, settings: object, check: (given: unknown) => unknown): void {
  try {
    check(defined<object>({ ...settings }))
  } catch (error) {
    const { option, message } = error as OptionTypeError
    context.addIssue({ code: 'custom', message, ...(option in settings && { path: [option] }) })
  }
}

/** Sections by a name that the user gives. */
export function named<Schema extends z.ZodType>(value: Schema): z.ZodPrefault<z.ZodRecord<z.ZodType<string, string>, Schema>> {
  return z
    .record(
      read<string, string>((key) => nameOption('its name', key)),
      value,
    )
    .prefault({} as never)
}
