/** The picture of `millrace top`: lines for a state and a size of the terminal. */
import type { Job } from '@millrace/engine'
import { awayText, countText, many, timeText } from '../output/amounts.ts'
import { type Line, line, type Text, widthOf, written } from '../output/line.ts'
import type { Paint } from '../output/style.ts'
import { type Column, tableLines } from '../output/table.ts'
import { errorText } from '../view/job.ts'
import { NAME_COLUMNS } from '../view/names.ts'
import { statesText } from '../view/states.ts'
import { failingLines } from '../view/warnings.ts'
import { workerColumns } from '../view/workers.ts'
import { columnsOf, SPARE_COLUMNS } from './columns.ts'
import { CHANGES, KEYS } from './keys.ts'
import { type Change, type Frame, placeOf, rowsOf, type State } from './state.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** An engine that has been silent for longer than this is shown as silent. */
const SILENT_MS = 5_000
const NAMES = 20
const FAILING = 3
/** Lines that are not of the list: the head and an empty line, the titles, the place in the list, an empty line and the foot. */
const AROUND = 6
const LIST_MIN = 3
/** The width from which there is room for the figures of the workers' processes. */
const WIDE = 100

/** Returns as many lines as fit. The last line of the terminal stays empty. @param now milliseconds since 1970 */
export function viewOf(state: State, { columns, rows }: Size, paint: Paint, now: number): readonly Text[] {
  const height = Math.max(rows - 1, AROUND + 1)
  const body = state.help
    ? helpLines(state, paint)
    : state.open === undefined
      ? listLines(state, columns, height, paint)
      : queueLines(state, columns, height, paint)
  const above = [headOf(state, paint, now), '', ...body].slice(0, height - 2)
  // The foot is where people look for it.
  const lines = [...above, ...Array<Text>(height - 1 - above.length).fill(''), footOf(state, paint)]
  return lines.slice(-Math.max(rows - 1, 1))
}

function headOf({ frame, former, readOnly }: State, paint: Paint, now: number): Line {
  const silentMs = now - frame.at
  const silent = silentMs > SILENT_MS ? paint('red', `  no answer since ${timeText(new Date(frame.at))}`) : ''
  const paused = frame.stats.paused ? paint('yellow', '  everything is paused: millrace queues resume-all') : ''
  const rates = former === undefined ? '' : `  ${ratesText(former, frame)}`
  return line`${paint('bold', 'millrace')}  ${timeText(new Date(frame.at))}${rates}${readOnly ? '  read-only' : ''}${paused}${silent}`
}

/** Formats the jobs that were enqueued, completed and failed per second since the previous frame. */
function ratesText(former: Frame, frame: Frame): string {
  const seconds = Math.max(0.001, (frame.at - former.at) / 1_000)
  const rate = (total: 'enqueued' | 'completed' | 'failed') =>
    `${((frame.stats.totals[total] - former.stats.totals[total]) / seconds).toFixed(1)}/s ${total}`
  return [rate('enqueued'), rate('completed'), rate('failed')].join('  ')
}

function listLines(state: State, width: number, height: number, paint: Paint): Text[] {
  const { frame, sort, reversed } = state
  const { workers, stats } = frame
  const rows = rowsOf(state)
  const at = placeOf(state, rows)
  const names = stats.names.slice(0, NAMES)
  const room = Math.max(height - AROUND, LIST_MIN)
  const failing = stats.failing.slice(0, FAILING)
  const below = workers.length + names.length + failing.length === 0 ? 0 : Math.floor(room / 2)
  // The window moves when the cursor would leave it.
  const shown = Math.min(rows.length, Math.max(room - below, LIST_MIN))
  const first = Math.min(Math.max(0, at - shown + 1), Math.max(0, rows.length - shown))
  const ascends = (sort === 'QUEUE') !== reversed
  const [titles = '', ...lines] = fitting(width - 2, (fewer) =>
    tableLines(columnsOf(paint, sort, ascends, fewer), rows, (title) => paint('bold', title), width - 2),
  )
  const list = lines
    .slice(first, first + shown)
    .map((each, index) => (first + index === at ? paint('inverse', line`> ${each}`) : line`  ${each}`))
  const left = rows.length - shown
  return [
    line`  ${titles}`,
    ...(rows.length === 0 ? [state.filter === '' ? '  no queues' : `  no queue has ${JSON.stringify(state.filter)} in its name`] : list),
    ...(left > 0 ? [paint('dim', `  ${countText(at + 1)} of ${many(rows.length, 'queue')}`)] : []),
    ...failingLines({ failing, failingLeftOut: stats.failing.length - failing.length + (stats.failingLeftOut ?? 0) }, paint),
    ...(workers.length === 0 ? [] : ['', ...table(workerColumns(paint, width < WIDE ? undefined : frame.at), workers, paint, width)]),
    ...(names.length === 0 ? [] : ['', ...table(nameColumns(width), names, paint, width)]),
  ]
}

/** On a narrow terminal, the percentiles have the room of the number of starts. */
function nameColumns(width: number): typeof NAME_COLUMNS {
  return width < WIDE ? NAME_COLUMNS.filter(({ title }) => title !== 'STARTED' && title !== 'INTERRUPTED') : NAME_COLUMNS
}

/** Returns the table with as many columns as fit. */
function fitting(width: number, tableOf: (fewer: number) => readonly Line[]): readonly Line[] {
  for (let fewer = 0; ; fewer++) {
    const lines = tableOf(fewer)
    if (fewer === SPARE_COLUMNS || lines.every((each) => widthOf(each) <= width)) return lines
  }
}

function queueLines({ frame, open = '' }: State, width: number, height: number, paint: Paint): Text[] {
  const stats = frame.stats.queues[open]
  if (stats === undefined) return [line`there is no queue ${open} any more`]
  const names = frame.stats.names.filter(({ queue }) => queue === open).slice(0, Math.max(LIST_MIN, Math.floor((height - AROUND) / 2)))
  const failures = frame.failures?.queue === open ? frame.failures.jobs : undefined
  return [
    line`${paint('bold', open)}${stats.paused ? line`  ${paint('yellow', 'paused')}` : ''}`,
    statesText(stats),
    '',
    ...(names.length === 0 ? ['no job has started since the engine did'] : table(nameColumns(width), names, paint, width)),
    '',
    ...(failures === undefined || failures.length === 0
      ? [failures === undefined ? 'reading its failures' : 'no failed jobs']
      : table(failureColumns(frame.at), failures, paint, width)),
  ]
}

function failureColumns(now: number): readonly Column<Job>[] {
  return [
    { title: 'FAILED JOB', text: ({ id }) => id },
    { title: 'NAME', elastic: true, text: ({ name }) => name },
    { title: 'WHEN', text: ({ finishedAt }) => awayText(finishedAt, now) },
    { title: 'ERROR', elastic: true, text: errorText },
  ]
}

function helpLines({ readOnly }: State, paint: Paint): Text[] {
  const shown = KEYS.filter(([keys]) => !readOnly || !CHANGES.has(keys))
  return table(
    [
      { title: 'KEY', text: ([keys]) => keys },
      { title: 'WHAT IT DOES', text: ([, does]) => does },
    ],
    shown,
    paint,
  )
}

function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], paint: Paint, width?: number): Line[] {
  return tableLines(columns, rows, (title) => paint('bold', title), width)
}

function footOf({ asked, typing, filter, note, open, help, readOnly }: State, paint: Paint): Text {
  if (asked !== undefined) return paint('bold', `${questionOf(asked)} [y/N]`)
  if (typing) return line`/${filter}${paint('inverse', ' ')}`
  if (note !== undefined) return note.bad ? paint('red', note.text) : note.text
  if (help) return paint('dim', '? close  q quit')
  const changes = readOnly ? '' : '  p pause/resume  t retry'
  if (open !== undefined) return paint('dim', `Esc back${changes}  ? help  q quit`)
  const kept = filter === '' ? '' : `filter ${JSON.stringify(filter)}  `
  return paint('dim', `${kept}Enter open  < > sort  / filter${changes}  ? help  q quit`)
}

function questionOf({ does, queue }: Change): string {
  return does === 'retry' ? `Retry all failed jobs of ${queue}?` : `${does === 'pause' ? 'Pause' : 'Resume'} ${queue}?`
}

/** Returns what is written to a terminal, from its first place on. */
export function drawing(lines: readonly Text[]): string {
  return `${HOME}${lines.map((each) => `${written(each)}${ERASE_LINE}`).join('\n')}${ERASE_BELOW}`
}

const HOME = '\u001b[H'
const ERASE_LINE = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
