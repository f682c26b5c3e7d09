/** Moves an export's cursor, which holds retention back. Events behind the cursor are read after the commit. */

import { DEFERRED, type Decision, Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { DeleteExportCommand, ExportCommand } from '../../observeCommands.ts'
import { noExport } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'

export function exportFinished({ tables, facts, effects }: TurnContext, { name, upTo }: ExportCommand): Decision<'export'> {
  const known = tables.exports.get(name)
  // The export was deleted after its reader began, and must not come back because of it.
  if (known === undefined && upTo !== undefined) return noExport(name)
  if (known === undefined && tables.exports.size >= LIMITS.exports) {
    const message = `there are ${LIMITS.exports} exports, and no more can be: delete one that is over (engine.exports.delete)`
    return new Refused({ code: 'UNSUPPORTED', message })
  }
  // The cursor stays if it is confirmed twice, or by a reader that another one has passed.
  const cursor = known === undefined ? facts.firstEvent - 1 : Math.min(upTo ?? 0, tables.nextEvent - 1)
  if (known === undefined || cursor > known) {
    tables.exports.set(name, cursor)
    effects.exports.push({ name, cursor })
  }
  return DEFERRED
}

export function deleteExport({ tables, effects }: TurnContext, { name }: DeleteExportCommand): boolean {
  const there = tables.exports.delete(name)
  if (there) effects.forgetExport(name)
  return there
}
