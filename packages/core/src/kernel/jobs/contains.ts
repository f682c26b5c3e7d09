/** Judges jobs by a string that they contain. A store that searches by itself finds the same jobs: `storedForms` and `folded` say how. */
import type { Data } from '../../job.ts'
import { JOB_TEXT_NAMES } from '../../options/jobTexts.ts'
import type { JobExtras } from '../records/job.ts'

/** True if a job's name, tags, keys, texts or data contain a string, ASCII letters in any case. Data is searched as the stored JSON. */
export function contains(
  text: string,
  { data, extras }: { readonly data: Data | undefined; readonly extras: JobExtras | undefined },
  name: string,
): boolean {
  const { tags = [], idempotencyKey = '', uniqueKey = '' } = extras ?? {}
  const texts = JOB_TEXT_NAMES.map((name) => extras?.[name] ?? '')
  const wanted = folded(text)
  if ([name, ...tags, idempotencyKey, uniqueKey, ...texts].some((part) => folded(part).includes(wanted))) return true
  if (typeof data !== 'string') return false
  const stored = folded(data)
  return storedForms(text).some((form) => stored.includes(folded(form)))
}

/**
 * Returns the forms in which JSON may contain a string: as it is, which finds names of properties with their values, and escaped, as
 * within a string of JSON.
 */
export function storedForms(text: string): readonly [plain: string, escaped: string] {
  return [text, JSON.stringify(text).slice(1, -1)]
}

/** Lowers the case of ASCII letters, and leaves others as they are. */
export function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
