/** The jobs that are selected: some of the list one by one, or all that match. */

export interface Selection {
  readonly ids: ReadonlySet<string>
  /** The row that was selected last, from which a range begins. */
  readonly anchor: string | undefined
  /** Set if all that match are selected: the time at which that was said. */
  readonly allAt: number | undefined
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchor: undefined, allAt: undefined }

export function isSelected({ ids, allAt }: Selection, id: string): boolean {
  return allAt !== undefined || ids.has(id)
}

export function isEmpty({ ids, allAt }: Selection): boolean {
  return allAt === undefined && ids.size === 0
}

/** Selects or deselects one row. All that match become those that are loaded, without this one. */
export function toggled(selection: Selection, id: string, order: readonly string[]): Selection {
  const ids = new Set(selection.allAt === undefined ? selection.ids : order)
  if (!ids.delete(id)) ids.add(id)
  return { ids, anchor: id, allAt: undefined }
}

/** Selects the rows from the anchor to this one. */
export function rangeTo(selection: Selection, id: string, order: readonly string[]): Selection {
  const [from, to] = [order.indexOf(selection.anchor ?? id), order.indexOf(id)]
  if (from === -1 || to === -1) return toggled(selection, id, order)
  const between = order.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...between]), anchor: id, allAt: undefined }
}
