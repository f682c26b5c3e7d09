/** The modes of flow_due in SQL, from the functions that say what they are. */
import { DUE_MODES, dueMode, takesBack } from '@millrace/core/kernel'

/** Returns an expression of what `dueMode` returns for two columns. */
export function dueModeOf(before: string, mode: string): string {
  const cases = DUE_MODES.flatMap((from) => DUE_MODES.map((to) => `WHEN ${from * DUE_MODES.length + to} THEN ${dueMode(from, to)}`))
  return `CASE ${before} * ${DUE_MODES.length} + ${mode} ${cases.join(' ')} END`
}

/** The condition of the index flow_due_back. */
export const IS_TAKEN_BACK = `mode IN (${DUE_MODES.filter(takesBack).join(', ')})`
