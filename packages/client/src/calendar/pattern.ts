/** Cron expressions, without zones: croner reads them, and finds the next match on a clock that never changes. */
import { Cron } from 'croner'

const PATTERNS_MAX = 1_000

/** An expression that has been read; the least recent are forgotten. */
const patterns = new Map<string, Cron>()

/**
 * The first wall time after `after` that an expression matches; undefined where none does.
 *
 * @throws Error that says what is wrong with it
 */
export function nextMatch(expression: string, after: number): number | undefined {
  let pattern = patterns.get(expression)
  if (pattern === undefined) pattern = read(expression)
  else patterns.delete(expression)
  patterns.set(expression, pattern)
  if (patterns.size > PATTERNS_MAX) patterns.delete(patterns.keys().next().value as string)
  const from = new Date(after)
  // Behind all that a Date can hold nothing comes.
  return Number.isNaN(from.getTime()) ? undefined : pattern.nextRun(from)?.getTime()
}

function read(expression: string): Cron {
  // Croner takes dates too.
  const fields = expression.trim().split(/\s+/).length
  if (!expression.startsWith('@') && (fields < 5 || fields > 7)) {
    const known = '5 (minute hour day month weekday), 6 (with seconds in front) or 7 (with seconds in front and the year at the end)'
    throw new Error(`it must have ${known} fields, got ${fields}`)
  }
  try {
    return new Cron(expression, { utcOffset: 0 })
  } catch (error) {
    throw new Error((error as Error).message.replace(/^CronPattern: /, ''))
  }
}
