/** Which rows of a long list are drawn: those that are seen, and some around them. */

export const ROW_PX = 32
/** Shorter lists are drawn whole. */
export const WINDOWED_FROM = 200
/** Longer lists are not kept. */
export const ROWS_MAX = 5_000
const AROUND = 12

export interface Window {
  readonly from: number
  /** The place behind the last row that is drawn. */
  readonly to: number
  /** The height of what is not drawn. */
  readonly abovePx: number
  readonly belowPx: number
}

/** @param scrolledPx how far the list's top is above that of the view; negative if it is below */
export function windowOf(rows: number, scrolledPx: number, viewPx: number, rowPx = ROW_PX): Window {
  if (rows < WINDOWED_FROM) return { from: 0, to: rows, abovePx: 0, belowPx: 0 }
  const from = bounded(Math.floor(scrolledPx / rowPx) - AROUND, rows)
  const to = bounded(Math.ceil((scrolledPx + viewPx) / rowPx) + AROUND, rows)
  return { from, to, abovePx: from * rowPx, belowPx: (rows - to) * rowPx }
}

function bounded(place: number, rows: number): number {
  return Math.min(rows, Math.max(0, place))
}
