/** The names that an engine knows, and the flags and arguments of commands that take them. */

export type Kind = 'queue' | 'job' | 'worker' | 'process' | 'schedule'

/** By flag, with its value as the help shows it: `--names <detail>` takes no names of jobs. */
const OF_FLAGS: Readonly<Record<string, Kind>> = {
  '--queue <name>': 'queue',
  '--queues <names>': 'queue',
  '--dead-letter <queue>': 'queue',
  '--name <name>': 'job',
  '--names <names>': 'job',
  '--job <name>': 'job',
  '--schedule <name>': 'schedule',
  '--worker <worker>': 'worker',
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
}

/** @param flags as commander has it: `-q, --queue <name>` */
export function kindOfFlag(flags: string): Kind | undefined {
  return OF_FLAGS[flags.replace(/^-\w, /, '')]
}

/** @param path the words of the command */
export function kindOfArgument(path: string, argument: string): Kind | undefined {
  return OF_ARGUMENTS[`${path.split(' ')[0]} ${argument}`]
}

/** Every place that takes names, as the tables write it. */
export const PLACES: readonly string[] = [...Object.keys(OF_FLAGS), ...Object.keys(OF_ARGUMENTS)]
