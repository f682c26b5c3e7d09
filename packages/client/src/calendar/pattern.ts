/** Finds matches of cron expressions without zones: croner parses them and searches on a clock that never changes. */
import { Cron } from 'croner'
import { unrolled } from './fields.ts'

const PATTERNS_MAX = 1_000

/** Parsed expressions; the least recently used are dropped. */
const patterns = new Map<string, Cron>()

/**
 * Returns the first wall time after `after` that the expression matches; undefined if there is none.
 *
 * @throws Error that says what is wrong with the expression
 */
export function nextMatch(expression: string, after: number): number | undefined {
  let pattern = patterns.get(expression)
  if (pattern === undefined) pattern = read(expression)
  else patterns.delete(expression)
  patterns.set(expression, pattern)
  if (patterns.size > PATTERNS_MAX) patterns.delete(patterns.keys().next().value as string)
  const from = new Date(after)
  // Nothing matches beyond the range of a Date.
  return Number.isNaN(from.getTime()) ? undefined : pattern.nextRun(from)?.getTime()
}

function read(expression: string): Cron {
  try {
    return new Cron(expression.startsWith('@') ? expression : unrolled(expression), { utcOffset: 0 })
  } catch (error) {
    throw new Error((error as Error).message.replace(/^CronPattern: /, ''))
  }
}
