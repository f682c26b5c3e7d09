/** Judges the contents of rows, which no condition of SQL can. */
import type { ListFilter } from '@millrace/core'
import { contains, jsonJudge } from '@millrace/core/kernel'
import { extrasFrom } from '../tables/job.ts'

/** Returns what judges the content of rows that may fit: their data, and their meta. */
export function contentJudge({ data: wantedData, meta: wantedMeta }: ListFilter): (data: string | null, extras: string | null) => boolean {
  const judgeData = wantedData === undefined ? undefined : jsonJudge(wantedData)
  const judgeMeta = wantedMeta === undefined ? undefined : jsonJudge(wantedMeta)
  return (data, extras) => {
    if (judgeData !== undefined && (data === null || !judgeData(data))) return false
    if (judgeMeta === undefined) return true
    const meta = extras === null ? undefined : extrasFrom(extras)?.meta
    return meta !== undefined && judgeMeta(meta)
  }
}

export function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** True if a tag or a key contains the string: meta and the names of the fields do not count. */
export function isInExtras(stored: string, text: string): boolean {
  return contains(text, { data: undefined, extras: extrasFrom(stored) }, '')
}
