/** The hours of a kind of failures, as their column has them: `[hour since 1970, count before, ...]`. */
import { type FailureHour, HOUR_MS } from '@millrace/core/kernel'

export function hoursText(hours: readonly FailureHour[]): string {
  return JSON.stringify(hours.flatMap(({ at, before }) => [at / HOUR_MS, before]))
}

/** Text that cannot be read has no hours: the kind itself is still there. */
export function hoursFrom(text: string): readonly FailureHour[] {
  const numbers = numbersFrom(text)
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, place) => ({
    at: (numbers[2 * place] as number) * HOUR_MS,
    before: numbers[2 * place + 1] as number,
  }))
}

function numbersFrom(text: string): readonly number[] {
  try {
    return JSON.parse(text) as readonly number[]
  } catch {
    return []
  }
}
