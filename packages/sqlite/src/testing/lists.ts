/** Asks a store for pages of lists. */
import type { JobRow, ListQuery, ScanBound, Store } from '@millrace/core/kernel'

/** A bound that no page of a test reaches. */
export const UNBOUNDED: ScanBound = { rows: Number.POSITIVE_INFINITY, late: () => false }

export function listed(store: Pick<Store, 'list'>, query: Partial<ListQuery> = {}): JobRow[] {
  return store.list({ filter: {}, limit: 10_000, ...query }, UNBOUNDED).rows
}
