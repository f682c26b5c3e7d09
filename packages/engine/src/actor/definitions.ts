/** Returns the defaults in force for enqueues by plain name, as `stats` reports them. */
import type { DefinitionDetail, DefinitionStats } from '@millrace/core'
import type { Tables } from '@millrace/core/kernel'

const TOLD_MAX = 1_000
const DISPUTERS_MAX = 10

export function definitionsOf({ definitions }: Tables, detail: DefinitionDetail = 'all'): DefinitionStats[] {
  const { disputes } = definitions
  const names = new Set(disputes.keys())
  for (const [name] of detail === 'all' ? definitions.inForce : []) {
    if (names.size >= TOLD_MAX) break
    names.add(name)
  }
  return [...names].slice(0, TOLD_MAX).flatMap((name) => {
    const definition = definitions.inForce.get(name)
    if (definition === undefined) return []
    const { defaults, worker, host, saidAt } = definition
    const against = [...(disputes.get(name) ?? [])].slice(0, DISPUTERS_MAX)
    return [{ name, defaults, worker, host, saidAt, disputedBy: against.map(({ intro }) => intro.worker) }]
  })
}
