/** Tests what is known of the runs of jobs: their errors, and the lines that they logged. Part of the suite. */
import { expect, test } from 'vitest'
import { standBy } from './standBy.ts'
import { ERROR, type StoreTurns } from './storeTurns.ts'

export function runsConformance(under: () => StoreTurns): void {
  test('are none before it starts, its own while it runs, and those that failed, with their lines', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq } = turns.enqueue('a', { maxAttempts: 3 })
    const attempts = () => turns.store.attempts([turns.row({ seq })])[0]
    const last = () => turns.store.withLastRuns([turns.row({ seq })])[0]?.lastRun
    expect([attempts(), last(), turns.store.lastError(seq)]).toEqual([[], null, undefined])
    turns.attach('w', ['a'])
    const startedAt = turns.now.wall
    const own = { startedAt, worker: 'worker of w' }
    expect(attempts()).toEqual([{ run: 1, attempt: 1, ...own, endedAt: 0, logs: [] }])
    const line = { at: 7, level: 'warn' as const, message: 'm', fields: '{"f":1}' }
    turns.run({ op: 'log', seq, run: 1, lines: [line, { at: 8, level: 'info', message: 'n' }] })
    turns.pass(5)
    turns.fail({ seq }, { retry: 0 })
    turns.run({ op: 'log', seq, run: 2, lines: [line] })
    const failed = {
      run: 1,
      attempt: 1,
      ...own,
      endedAt: startedAt + 5,
      error: ERROR,
      logs: [line, { at: 8, level: 'info', message: 'n' }],
    }
    const second = { run: 2, attempt: 2, worker: 'worker of w', startedAt: startedAt + 5, logs: [line] }
    expect(attempts()).toEqual([failed, { ...second, endedAt: 0 }])
    expect(turns.store.lastError(seq)).toEqual(ERROR)
    turns.pass(5)
    turns.complete({ seq })
    expect(attempts()).toEqual([failed, { ...second, endedAt: startedAt + 10 }])
    expect(last()).toEqual({ run: 2, startedAt: startedAt + 5, endedAt: startedAt + 10, worker: 'worker of w' })
    assertBystanders()
  })

  test('lines beyond those that are shown come page by page, and the oldest go', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq } = turns.enqueue('a', { logLines: 150, maxAttempts: 3 })
    turns.attach('w', ['a'])
    const lines = Array.from({ length: 160 }, (_, at) => ({ at, level: 'info' as const, message: `line ${at}` }))
    turns.run({ op: 'log', seq, run: 1, lines: lines.slice(0, 70) })
    turns.run({ op: 'log', seq, run: 1, lines: lines.slice(70) })
    const numbersOf = (run: number, after: number, limit: number, newest = false) =>
      turns.store.logLines(seq, run, { after, limit, newest }).map(({ number, at, message }) => {
        expect([at, message]).toEqual([number, `line ${number}`])
        return number
      })
    expect(numbersOf(1, -1, 3)).toEqual([10, 11, 12])
    expect(numbersOf(1, 12, 2)).toEqual([13, 14])
    expect(numbersOf(1, 158, 5)).toEqual([159])
    expect(numbersOf(1, 159, 5)).toEqual([])
    expect(numbersOf(1, Number.MAX_SAFE_INTEGER, 2, true)).toEqual([159, 158])
    expect(numbersOf(1, 12, 5, true)).toEqual([11, 10])
    expect(numbersOf(1, -1, 1_000)).toHaveLength(150)
    expect(numbersOf(2, -1, 5)).toEqual([])
    turns.fail({ seq }, { retry: 0 })
    turns.run({ op: 'log', seq, run: 2, lines: [{ ...lines[0], fields: '{"f":1}' } as (typeof lines)[0]] })
    expect(turns.store.logLines(seq, 2, { after: -1, limit: 5, newest: false })).toEqual([
      { number: 0, at: 0, level: 'info', message: 'line 0', fields: '{"f":1}' },
    ])
    const [first, second] = turns.store.attempts([turns.row({ seq })])[0] ?? []
    expect(first?.logs.map(({ at }) => at)).toEqual(lines.slice(-100).map(({ at }) => at))
    expect(second?.logs).toHaveLength(1)
    assertBystanders()
  })

  test('that were given back have no error, and hide none', () => {
    const turns = under()
    turns.attach('w', ['a'])
    const { seq } = turns.enqueue('a')
    turns.fail({ seq }, { error: { name: '', message: 'of another library' }, retry: 0 })
    turns.run({ op: 'log', seq, run: 2, lines: [{ at: 1, level: 'info', message: 'm' }] })
    turns.snooze({ seq }, 10)
    expect(turns.store.attempts([turns.row({ seq })])[0]?.map(({ error }) => error)).toEqual([
      { name: 'Error', message: 'of another library' },
      undefined,
    ])
    expect(turns.store.lastError(seq)).toEqual({ name: 'Error', message: 'of another library' })
    expect(turns.store.withLastRuns([turns.row({ seq })])[0]?.lastRun?.error).toBeUndefined()
  })

  test('come for many at once as for each alone', () => {
    const turns = under()
    standBy(turns)
    const rows = turns.rows().toReversed()
    expect(turns.store.attempts(rows)).toEqual(rows.map((row) => turns.store.attempts([row])[0]))
    expect(turns.store.withLastRuns(rows)).toEqual(rows.map((row) => turns.store.withLastRuns([row])[0]))
    expect(turns.store.attempts([])).toEqual([])
  })
}
