/** The flags that select jobs, from core's table of filter fields, and what they mean to the engine. */
import { FILTER_FIELDS, FILTER_OPTIONS, type FilterOption, type FilterOptionKind, type JobFilter, STATES } from '@millrace/core'
import type { Command } from 'commander'
import { flagName } from '../config/flagName.ts'
import { defined } from '../defined.ts'
import { json, time } from './values.ts'

export type FilterFlags = Readonly<Partial<Record<FilterOption, unknown>>>

/** How the value of a field is written and read. */
const VALUES: Readonly<Record<FilterOptionKind, { readonly value?: string; readonly parse?: (text: string) => unknown }>> = {
  state: { value: 'state', parse: (text) => (text.includes(',') ? text.split(',') : text) },
  name: { value: 'name' },
  text: {},
  boolean: {},
  time: { value: 'time', parse: time },
  fingerprint: { value: 'digits' },
  json: { value: 'json', parse: json },
  job: { value: 'id' },
}

export function addFilters(command: Command): Command {
  for (const name of FILTER_OPTIONS) {
    const { kind, says } = FILTER_FIELDS[name]
    const { value = name, parse } = VALUES[kind]
    const flag = flagName(name)
    if (kind === 'boolean') command.option(`--${flag}`, FLAGS_SAY[name]).option(`--no-${flag}`, `all jobs but those of --${flag}`)
    else command.option(`--${flag} <${value}>`, FLAGS_SAY[name] ?? `only jobs ${says}`, parse as (text: string) => unknown)
  }
  return command
}

/** Help in place of the row's. */
const FLAGS_SAY: { readonly [Option in FilterOption]?: string } = {
  state: `only jobs in this state: ${STATES.slice(0, -1).join(', ')} or ${STATES.at(-1)}; separate several with commas`,
  retrying: 'only jobs that wait between two attempts',
}

/** Only the flags that were given: the engine checks them. */
export function filterOf(flags: FilterFlags): JobFilter {
  return defined<JobFilter>(Object.fromEntries(FILTER_OPTIONS.map((name) => [name, flags[name]])) as Record<FilterOption, unknown>)
}
