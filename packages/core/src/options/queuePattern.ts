/** The queues that a worker serves: names, and prefixes of names that end with an asterisk. */
import { OptionTypeError } from '../errors.ts'
import { nameOption, prefixOption } from './name.ts'

const ANY = '*'

/** The name of a queue, or the beginning of names and an asterisk: 'mail', 'mail-*', or '*' for every queue. */
export function queuePatternOption(option: string, value: unknown): string {
  if (typeof value !== 'string' || !value.includes(ANY)) return nameOption(option, value)
  const prefix = prefixOf(value)
  if (prefix === undefined)
    throw new OptionTypeError(
      option,
      `${option} has '${ANY}' before its end, got '${value}': it stands for any rest of a name, as in 'mail-*'`,
    )
  if (prefix !== '') prefixOption(option, prefix)
  return value
}

/** Returns the beginning of the names that a pattern stands for; undefined if it is a name. */
export function prefixOf(pattern: string): string | undefined {
  const end = pattern.indexOf(ANY)
  return end >= 0 && end === pattern.length - 1 ? pattern.slice(0, end) : undefined
}

/** True if a pattern stands for the queue. */
export function matchesQueue(pattern: string, queue: string): boolean {
  const prefix = prefixOf(pattern)
  return prefix === undefined ? pattern === queue : queue.startsWith(prefix)
}
