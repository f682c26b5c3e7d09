/** The results that were kept with `--save`. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export const RESULTS = join(import.meta.dirname, '..', 'results')

/** Their names begin with their date, so the last is the latest. */
export function latestSaved(): string | undefined {
  if (!existsSync(RESULTS)) return undefined
  const last = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .at(-1)
  return last === undefined ? undefined : join(RESULTS, last)
}
