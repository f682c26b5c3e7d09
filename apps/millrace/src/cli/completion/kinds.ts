/** Tables of the values that flags and arguments may have: names that an engine or its control database knows, or one of some words. */
import {
  DEFINITION_DETAILS,
  EVENT_TYPES,
  FLOW_STATES,
  JOB_EVENT_TYPES,
  LIST_ORDERS,
  NAME_DETAILS,
  ON_CONFLICT,
  PAYLOAD_MODES,
  PURGED_STATES,
  QUEUE_OPTIONS,
  type Row,
  SCHEDULE_OPTIONS,
  SCOPES,
  STATES,
  UNIQUE_UNTILS,
} from '@millrace/core'
import { SETTING_KEYS } from '../../config/settings.ts'
import { flagOf } from '../written.ts'

/** Kinds of names. */
export type Named = 'queue' | 'job' | 'worker' | 'process' | 'schedule' | 'error' | 'token' | 'endpoint'

/** A kind of names, or the words themselves. */
export type Kind = Named | readonly string[]

/** By flag, with its value as the help shows it: `--names <detail>` takes no names of jobs. A group in front is for its commands alone. */
const OF_FLAGS: Readonly<Record<string, Kind>> = {
  '--queue <name>': 'queue',
  '--queues <names>': 'queue',
  '--dead-letter <name>': 'queue',
  '--name <name>': 'job',
  '--names <names>': 'job',
  '--job <name>': 'job',
  '--schedule <name>': 'schedule',
  '--worker <worker>': 'worker',
  '--error <error>': 'error',
  '--state <state>': STATES,
  'flows --state <state>': FLOW_STATES,
  '--state <states>': PURGED_STATES,
  '--order <order>': LIST_ORDERS,
  '--payload <mode>': PAYLOAD_MODES,
  '--unique-until <when>': UNIQUE_UNTILS,
  '--on-conflict <what>': ON_CONFLICT,
  '--names <detail>': NAME_DETAILS,
  '--definitions <which>': DEFINITION_DETAILS,
  '--type <types>': EVENT_TYPES,
  '--events <types>': JOB_EVENT_TYPES,
  '--scopes <scopes>': SCOPES,
  ...wordsOf(QUEUE_OPTIONS),
  ...wordsOf(SCHEDULE_OPTIONS),
}

/** The flags of a table's rows that take one of some words. */
function wordsOf(rows: Readonly<Record<string, Row>>): Readonly<Record<string, readonly string[]>> {
  const places = Object.entries(rows).map(([name, row]) =>
    row.kind.type === 'choice' ? [[flagOf(rows, name).flag, row.kind.words] as const] : [],
  )
  return Object.fromEntries(places.flat())
}

/** By group or command, and argument. */
const OF_ARGUMENTS: Readonly<Record<string, Kind>> = {
  'enqueue name': 'job',
  'keys name': 'job',
  'queues name': 'queue',
  'schedules id': 'schedule',
  'schedules job': 'job',
  'worker id|pid': 'process',
  'workers id': 'worker',
  'token id|name': 'token',
  'webhooks id': 'endpoint',
  'config key': SETTING_KEYS,
}

/** @param path the words of the command; @param flags as commander has it: `-q, --queue <name>` */
export function kindOfFlag(path: string, flags: string): Kind | undefined {
  const flag = flags.replace(/^-\w, /, '')
  return OF_FLAGS[`${path.split(' ')[0]} ${flag}`] ?? OF_FLAGS[flag]
}

/** @param path the words of the command */
export function kindOfArgument(path: string, argument: string): Kind | undefined {
  return OF_ARGUMENTS[`${path.split(' ')[0]} ${argument}`]
}

/** Every place that takes names or words, as the tables write it. */
export const PLACES: readonly string[] = [...Object.keys(OF_FLAGS), ...Object.keys(OF_ARGUMENTS)]
