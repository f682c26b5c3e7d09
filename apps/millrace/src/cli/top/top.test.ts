/** `millrace top` without a terminal and without an engine: keys change a state, and a state is a picture. */
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { linesOf } from '../commands/top.ts'
import { Line, widthOf, written } from '../output/line.ts'
import { tableLines } from '../output/table.ts'
import { CHANGES, keysIn } from './keys.ts'
import { begin, type Effect, type Frame, rowsOf, type State, step } from './state.ts'
import { viewOf } from './view.ts'

const AT = Date.parse('2026-11-27T12:00:00Z')
const plainly = (_style: string, text: string | Line) => new Line(written(text))
const NONE = { scheduled: 0, waiting: 0, active: 0, blocked: 0, completed: 0, failed: 0, cancelled: 0, paused: false, oldestWaitingMs: 0 }

function frameOf(queues: Readonly<Record<string, Partial<typeof NONE>>>, more: object = {}): Frame {
  const stats = {
    totals: { enqueued: 100, completed: 50, failed: 1 },
    names: [],
    failing: [],
    queues: Object.fromEntries(Object.entries(queues).map(([name, counts]) => [name, { ...NONE, ...counts }])),
    ...more,
  }
  return { at: AT, stats, workers: [] } as unknown as Frame
}

const QUEUES = { bulk: { waiting: 5, failed: 2 }, mail: { waiting: 70, paused: true }, media: { active: 3, failed: 9 } }

/** The state after these keys, and the effects that they had. */
function after(state: State, ...keys: readonly string[]): { readonly state: State; readonly effects: readonly Effect[] } {
  const effects: Effect[] = []
  let current = state
  for (const key of keys) {
    const next = step(current, { type: 'key', key })
    current = next.state
    if (next.effect !== undefined) effects.push(next.effect)
  }
  return { state: current, effects }
}

const start = (readOnly = false) => begin(frameOf(QUEUES), readOnly)
const order = (state: State) => rowsOf(state).map(({ name }) => name)
const picture = (state: State, columns = 80, rows = 24, now = AT) =>
  viewOf(state, { columns, rows }, plainly, now).map((each) => stripVTControlCharacters(written(each)))
const marked = (state: State) => picture(state).find((each) => each.startsWith('>'))

test('keys as a terminal sends them, alone and together', () => {
  expect(keysIn('\u001b[A\u001b[B\u001bOC\u001b[5~\u001b[6~\u001b[H\u001b[4~')).toEqual([
    'up',
    'down',
    'right',
    'page up',
    'page down',
    'home',
    'end',
  ])
  expect(keysIn('jü\r\u007f\u0003\u001b')).toEqual(['j', 'ü', 'enter', 'backspace', 'ctrl-c', 'escape'])
  expect(keysIn('\u001b[1;5Pq\u0001')).toEqual(['q'])
})

test('the cursor moves among the rows, stays in them, and stays on its queue when the order changes', () => {
  expect(marked(start())).toMatch(/^> bulk /)
  expect(marked(after(start(), 'down', 'j', 'down').state)).toMatch(/^> media /)
  expect(marked(after(start(), 'end', 'up').state)).toMatch(/^> mail /)
  expect(marked(after(start(), 'page down', 'k', 'home').state)).toMatch(/^> bulk /)
  const { state } = after(start(), 'end')
  expect(marked(after(state, 'r').state)).toMatch(/^> media /)
  const gone = step(state, { type: 'frame', frame: frameOf({ bulk: {}, mail: {} }) }).state
  expect(marked(gone)).toMatch(/^> bulk /)
})

test('one long name takes the room of no number: it is cut', () => {
  const long = `tenant-${'x'.repeat(70)}`
  const workers = [
    {
      id: 'w1',
      pid: 7,
      host: 'h'.repeat(60),
      names: Array.from({ length: 40 }, (_, each) => `name-${each}`),
      queues: null,
      runningJobs: 1,
      maxConcurrency: 4,
    },
  ]
  const frame = { ...frameOf({ [long]: { waiting: 70, failed: 9 }, mail: { waiting: 5 } }), workers } as unknown as Frame
  for (const columns of [80, 120]) {
    const said = picture(begin(frame, false), columns)
    for (const each of said) expect([...each].length).toBeLessThanOrEqual(columns)
    expect(said.find((each) => each.includes('tenant-'))).toMatch(/tenant-x+…? .* 70 .* 9/)
    expect(said.find((each) => each.startsWith('w1'))).toMatch(/1\/4 .*…$/)
  }
  expect(picture(begin(frame, false), 300).join('\n')).toContain(long)
})

test('names that fail are below the queues, before the workers', () => {
  const failing = { queue: 'mail', name: 'charge', runs: 300, failed: 66, failedJobs: 4, streak: 1, firstAt: AT, lastAt: AT }
  const rare = { ...failing, name: 'report', runs: 2, failed: 2, failedJobs: 0, streak: 3 }
  const said = picture(begin(frameOf(QUEUES, { failing: [failing, rare] }), false), 120)
  expect(said.slice(6, 10)).toEqual([
    '',
    'charge in mail fails since 2026-11-27 12:00:00Z: 66 of 300 runs in 15 minutes (22 %), 4 jobs permanently',
    'report in mail fails since 2026-11-27 12:00:00Z: its last 3 runs failed',
    '',
  ])
  const many = { failing: Array.from({ length: 10 }, () => rare), failingLeftOut: 5 }
  const shown = picture(begin(frameOf(QUEUES, many), false), 120)
  expect(shown.filter((each) => each.startsWith('report') || each.startsWith('failing'))).toHaveLength(4)
  expect(shown).toContain('failing: 12 more job names')
  // Without a terminal as well.
  const printed = linesOf(frameOf(QUEUES, { failing: [failing] }), {
    paint: plainly,
    table: (columns, rows) => tableLines(columns, rows, (title) => title),
  })
  expect(printed.map(written).join('\n')).toContain('\n\ncharge in mail fails since 2026-11-27 12:00:00Z: 66 of 300 runs')
})

test('rows are sorted by each column: names ascend, numbers descend; r reverses', () => {
  expect(order(start())).toEqual(['bulk', 'mail', 'media'])
  const byWaiting = after(start(), '>', '>').state
  expect([byWaiting.sort, order(byWaiting)]).toEqual(['WAITING', ['mail', 'bulk', 'media']])
  expect(order(after(byWaiting, 'r').state)).toEqual(['media', 'bulk', 'mail'])
  const byOldest = after(start(), '<').state
  expect(byOldest.sort).toBe('OLDEST')
  expect(order(after(byOldest, '<', '<').state)).toEqual(['media', 'bulk', 'mail'])
  expect(after(byOldest, '>').state.sort).toBe('QUEUE')
  expect(picture(byWaiting).join('\n')).toContain('WAITING↓')
  expect(picture(after(byWaiting, 'r').state).join('\n')).toContain('WAITING↑')
})

test('a filter is typed, corrected, kept and removed; its keys do nothing else', () => {
  const typing = after(start(), '/', 'M', 'q', 'backspace', 'p', 'backspace', 'up', 'e')
  expect(typing.effects).toEqual([])
  expect([typing.state.filter, order(typing.state)]).toEqual(['Me', ['media']])
  expect(picture(typing.state).at(-1)).toBe('/Me ')
  const kept = after(typing.state, 'enter').state
  expect(picture(kept).at(-1)).toMatch(/^filter "Me" /)
  expect(order(after(kept, 'escape').state)).toHaveLength(3)
  const nothing = after(start(), '/', 'x').state
  expect(picture(nothing).join('\n')).toContain('no queue has "x" in its name')
  expect(after(nothing, 'enter', 'enter', 'down').effects).toEqual([])
})

test.each([
  [['p'], 'Pause bulk? [y/N]', { does: 'pause', queue: 'bulk' }],
  [['down', 'p'], 'Resume mail? [y/N]', { does: 'resume', queue: 'mail' }],
  [['t'], 'Retry all failed jobs of bulk? [y/N]', { does: 'retry', queue: 'bulk' }],
  [['end', 'enter', 't'], 'Retry all failed jobs of media? [y/N]', { does: 'retry', queue: 'media' }],
] as const)('%j asks first, and takes only y for yes', (keys, question, effect) => {
  const { state, effects } = after(start(), ...keys)
  expect(picture(state).at(-1)).toBe(question)
  expect(effects.filter(({ does }) => does !== 'refresh')).toEqual([])
  expect(after(state, 'y').effects).toEqual([effect])
  for (const no of ['n', 'enter', 'escape', 'q', 'p', 't', '?']) {
    const left = after(state, no)
    expect([left.effects, left.state.asked, picture(left.state).at(-1)]).toEqual([[], undefined, 'nothing was changed'])
  }
  expect(after(state, 'ctrl-c').effects).toEqual([{ does: 'interrupt' }])
  // The question is about the queue that it names, wherever the cursor would be by now.
  const later = step(state, { type: 'frame', frame: frameOf({ a: {}, ...QUEUES }) }).state
  expect(after(later, 'y').effects).toEqual([effect])
})

test('what cannot be done is said: no failed jobs, no queue, --read-only', () => {
  expect(picture(after(start(), 'down', 't').state).at(-1)).toBe('mail has no failed jobs')
  expect(picture(after(begin(frameOf({}), false), 'p').state).at(-1)).toBe('there is no queue')
  expect(picture(begin(frameOf({}), false)).join('\n')).toContain('no queues')
  for (const key of CHANGES) {
    const { state, effects } = after(start(true), key, 'y')
    expect([state.asked, effects]).toEqual([undefined, []])
    expect(picture(after(start(true), key).state).at(-1)).toBe('--read-only: this key changes nothing')
  }
  expect(picture(start(true)).join('\n')).not.toContain('retry')
  expect(picture(after(start(true), '?').state).join('\n')).not.toMatch(/pause|retry/)
})

test('a queue is opened with its names and failures, and closed', () => {
  const { state, effects } = after(start(), 'end', 'enter')
  expect(effects).toEqual([{ does: 'refresh' }])
  expect(picture(state).join('\n')).toMatch(/media\n0 scheduled, .* 9 failed(.|\n)*no job has started(.|\n)*reading its failures/)
  const jobs = [
    {
      id: '01990a5e',
      name: 'resize',
      finishedAt: new Date(AT - 5_000),
      lastRun: { error: { name: 'Error', message: 'no\u001b[31m disk' } },
    },
  ]
  const frame = { ...frameOf(QUEUES), failures: { queue: 'media', jobs } } as unknown as Frame
  const shown = step(state, { type: 'frame', frame }).state
  expect(picture(shown).join('\n')).toMatch(/01990a5e +resize +5\.0s ago +Error: no\\x1b\[31m disk/)
  expect(after(shown, 'escape').state.open).toBeUndefined()
  expect(picture(step(shown, { type: 'frame', frame: frameOf({}) }).state).join('\n')).toContain('there is no queue media any more')
})

test('help, quit and the result of a change', () => {
  const help = after(start(), '?').state
  expect(picture(help).join('\n')).toMatch(/KEY +WHAT IT DOES(.|\n)*quit/)
  expect(after(help, 'p', 'enter', 'down').effects).toEqual([])
  for (const key of ['?', 'escape']) expect(after(help, key).state.help).toBe(false)
  expect(after(help, 'q').effects).toEqual([{ does: 'quit' }])
  expect(after(start(), 'ctrl-c').effects).toEqual([{ does: 'interrupt' }])
  const noted = step(start(), { type: 'note', text: 'paused bulk', bad: false }).state
  expect(picture(noted).at(-1)).toBe('paused bulk')
  expect(picture(after(noted, 'down').state).at(-1)).toMatch(/quit$/)
})

test('a picture fits: as many lines as there are, and columns that are left out', () => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`queue-${String(index).padStart(3, '0')}`, { waiting: 1_234_567, paused: true }]),
  )
  const state = begin(frameOf(many), false)
  for (const [columns, rows] of [
    [80, 24],
    [120, 40],
    [20, 3],
    [80, 6],
  ] as const)
    for (const each of [state, after(state, 'end').state, after(state, '?').state, after(state, 'enter').state])
      expect(viewOf(each, { columns, rows }, plainly, AT)).toHaveLength(rows - 1)
  const narrow = viewOf(state, { columns: 80, rows: 24 }, plainly, AT)
  expect(Math.max(...narrow.map(widthOf))).toBeLessThanOrEqual(80)
  expect(written(narrow[2] as Line)).toMatch(/QUEUE↑ .*WAITING .*FAILED/)
  const bySpare = after(state, '>').state
  expect(written(viewOf(bySpare, { columns: 80, rows: 24 }, plainly, AT)[2] as Line)).toContain('SCHEDULED↓')
  expect(written(viewOf(state, { columns: 140, rows: 24 }, plainly, AT)[2] as Line)).toMatch(/BLOCKED.*CANCELLED.*OLDEST/)
  expect(marked(after(state, 'page down', 'page down', 'page down', 'down').state)).toMatch(/^> queue-031 /)
  expect(picture(after(state, 'end').state).join('\n')).toContain('200 of 200 queues')
})

test('rates since the frame before; an engine that is silent', () => {
  const totals = { enqueued: 120, completed: 55, failed: 1 }
  const next = { ...frameOf(QUEUES, { totals }), at: AT + 2_000 } as Frame
  const state = step(start(), { type: 'frame', frame: next }).state
  expect(picture(state, 80, 24, AT + 2_000)[0]).toBe('millrace  2026-11-27 12:00:02Z  10.0/s enqueued  2.5/s completed  0.0/s failed')
  expect(picture(state, 80, 24, AT + 60_000)[0]).toContain('no answer since 2026-11-27 12:00:02Z')
})
