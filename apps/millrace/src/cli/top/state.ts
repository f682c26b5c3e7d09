/** The state of `millrace top`, and what keys and answers make of it. Nothing here draws or asks. */
import type { Job, Percentiles, Stats, WorkerView } from '@millrace/engine'
import type { QueueRow } from '../view/queues.ts'
import { queueRows } from '../view/queues.ts'
import { type ColumnName, SORTED } from './columns.ts'
import { CHANGES } from './keys.ts'

/** The answers of the engine at one time. */
export interface Frame {
  readonly at: number
  readonly stats: Stats<Percentiles>
  readonly workers: readonly WorkerView[]
  /** The newest failed jobs of the queue that is open. */
  readonly failures?: { readonly queue: string; readonly jobs: readonly Job[] }
}

/** A call that changes something in a queue. */
export interface Change {
  readonly does: 'pause' | 'resume' | 'retry'
  readonly queue: string
}

/** An action of the program after an event: a change, a request for a fresh frame, or its end. */
export type Effect = { readonly does: 'refresh' } | { readonly does: 'quit' } | { readonly does: 'interrupt' } | Change

export interface State {
  readonly readOnly: boolean
  readonly frame: Frame
  /** The frame before, for rates. */
  readonly former: Frame | undefined
  readonly sort: ColumnName
  readonly reversed: boolean
  readonly filter: string
  /** True while the filter is typed. */
  readonly typing: boolean
  /** The queue under the cursor; the first one if there is none of this name. */
  readonly cursor: string | undefined
  /** The queue that is open. */
  readonly open: string | undefined
  readonly help: boolean
  /** The change that waits for `y`. */
  readonly asked: Change | undefined
  /** The result of the last change, or why a key did nothing. */
  readonly note: { readonly text: string; readonly bad: boolean } | undefined
}

export type Event =
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'frame'; readonly frame: Frame }
  | { readonly type: 'note'; readonly text: string; readonly bad: boolean }

export interface Step {
  readonly state: State
  readonly effect?: Effect
}

/** The number of rows that Page Up and Page Down move by. */
const PAGE = 10

export function begin(frame: Frame, readOnly: boolean): State {
  return {
    ...{ readOnly, frame, former: undefined, sort: 'QUEUE', reversed: false, filter: '', typing: false },
    ...{ cursor: undefined, open: undefined, help: false, asked: undefined, note: undefined },
  }
}

/** Returns the queues that are shown, in their order. */
export function rowsOf({ frame, filter, sort, reversed }: State): readonly QueueRow[] {
  const wanted = filter.toLowerCase()
  const valueIn = SORTED[sort]
  // Names ascend, and numbers descend: the busiest first.
  const sign = (sort === 'QUEUE' ? 1 : -1) * (reversed ? -1 : 1)
  const compare = (a: QueueRow, b: QueueRow) => {
    const [one, other] = [valueIn(a), valueIn(b)]
    return one < other ? -sign : one > other ? sign : a.name < b.name ? -1 : 1
  }
  return queueRows(frame.stats)
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .toSorted(compare)
}

/** Returns the place of the cursor among the rows. */
export function placeOf({ cursor }: State, rows: readonly QueueRow[]): number {
  return Math.max(
    0,
    rows.findIndex(({ name }) => name === cursor),
  )
}

export function step(state: State, event: Event): Step {
  if (event.type === 'frame') return { state: { ...state, frame: event.frame, former: state.frame } }
  if (event.type === 'note') return { state: { ...state, note: { text: event.text, bad: event.bad } } }
  const { key } = event
  if (key === 'ctrl-c') return { state, effect: { does: 'interrupt' } }
  if (state.asked !== undefined) return answered(state, state.asked, key)
  if (state.typing) return { state: typed(state, key) }
  const clean = { ...state, note: undefined }
  if (key === 'q') return { state, effect: { does: 'quit' } }
  if (key === '?') return { state: { ...clean, help: !state.help } }
  if (state.help) return { state: key === 'escape' ? { ...clean, help: false } : state }
  if (CHANGES.has(key)) return changed(clean, key)
  return state.open === undefined ? inList(clean, key) : inQueue(clean, key)
}

/** Takes `y` for yes, and every other key for no. */
function answered(state: State, asked: Change, key: string): Step {
  const next = { ...state, asked: undefined }
  if (key === 'y' || key === 'Y') return { state: next, effect: asked }
  return { state: { ...next, note: { text: 'nothing was changed', bad: false } } }
}

function typed(state: State, key: string): State {
  if (key === 'enter') return { ...state, typing: false }
  if (key === 'escape') return { ...state, typing: false, filter: '' }
  if (key === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join('') }
  // The names of other keys are longer than a character.
  return [...key].length === 1 ? { ...state, filter: state.filter + key } : state
}

/** Asks about a change of the queue that is open, or under the cursor. */
function changed(state: State, key: string): Step {
  if (state.readOnly) return { state: { ...state, note: { text: '--read-only: this key changes nothing', bad: true } } }
  const rows = rowsOf(state)
  const queue = state.open ?? rows[placeOf(state, rows)]?.name
  const stats = queue === undefined ? undefined : state.frame.stats.queues[queue]
  if (queue === undefined || stats === undefined) return { state: { ...state, note: { text: 'there is no queue', bad: true } } }
  if (key === 'p') return { state: { ...state, asked: { does: stats.paused ? 'resume' : 'pause', queue } } }
  if (stats.failed === 0) return { state: { ...state, note: { text: `${queue} has no failed jobs`, bad: false } } }
  return { state: { ...state, asked: { does: 'retry', queue } } }
}

function inList(state: State, key: string): Step {
  const rows = rowsOf(state)
  const at = placeOf(state, rows)
  const moveTo = (place: number): Step => {
    const row = rows[Math.min(Math.max(place, 0), rows.length - 1)]
    return { state: row === undefined ? state : { ...state, cursor: row.name } }
  }
  switch (key) {
    case 'up':
    case 'k':
      return moveTo(at - 1)
    case 'down':
    case 'j':
      return moveTo(at + 1)
    case 'page up':
      return moveTo(at - PAGE)
    case 'page down':
      return moveTo(at + PAGE)
    case 'home':
      return moveTo(0)
    case 'end':
      return moveTo(rows.length - 1)
    case '<':
    case 'left':
      return { state: sorted(state, -1) }
    case '>':
    case 'right':
      return { state: sorted(state, 1) }
    case 'r':
      return { state: { ...state, reversed: !state.reversed } }
    case '/':
      return { state: { ...state, typing: true } }
    case 'escape':
      return { state: { ...state, filter: '' } }
    case 'enter': {
      const open = rows[at]?.name
      return open === undefined ? { state } : { state: { ...state, cursor: open, open }, effect: { does: 'refresh' } }
    }
    default:
      return { state }
  }
}

function inQueue(state: State, key: string): Step {
  return { state: key === 'escape' || key === 'left' || key === 'backspace' ? { ...state, open: undefined } : state }
}

function sorted(state: State, by: number): State {
  const columns = Object.keys(SORTED) as ColumnName[]
  const next = columns[(columns.indexOf(state.sort) + by + columns.length) % columns.length] as ColumnName
  return { ...state, sort: next, reversed: false }
}
