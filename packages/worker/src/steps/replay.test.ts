/** Random programs of durable calls, killed, put to sleep and tried again at random: every run gets the same results in the same order. */
import { isErrorOf, type WantedWait } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type NewResult, Replay, type StepsLink } from './replay.ts'
import { WaitSignal } from './waitSignal.ts'

type StepResult = Omit<NewResult, 'kind' | 'startedAt'> & { readonly kind: 'step' | 'sleep' | 'change' }

/** A program, and what it does in order. Each has a name of its own. */
type Program =
  | { readonly do: 'step'; readonly fails: number; readonly ticks: number }
  | { readonly do: 'sleep'; readonly delay: number }
  | { readonly do: 'microtasks'; readonly count: number }
  | { readonly do: 'sequence' | 'all' | 'race' | 'any' | 'settled'; readonly of: readonly Program[] }

const leaf: fc.Arbitrary<Program> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('step' as const), fails: fc.constantFrom(0, 0, 0, 1, 9), ticks: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep' as const), delay: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('microtasks' as const), count: fc.nat(30) }) },
)
const { program } = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      do: fc.constantFrom('sequence', 'sequence', 'all', 'race', 'any', 'settled'),
      of: fc.array(tie('program'), { minLength: 1, maxLength: 4 }),
    }) as fc.Arbitrary<Program>,
  ),
}))

const MAX_ATTEMPTS = 3
const after = (ticks: number) =>
  new Promise<void>((resolve) => {
    const tick = (left: number) => (left === 0 ? resolve() : setImmediate(() => tick(left - 1)))
    tick(ticks)
  })

/** The engine: results of one job, open waits with their ends, and a clock that goes on when the job sleeps. */
class Engine {
  readonly results: StepResult[] = []
  readonly #ends = new Map<string, number>()
  readonly #asked = new Map<string, number>()
  /** Answers that come with the same message. */
  #message: Promise<void> | undefined
  now = 0
  calls = new Map<string, number>()

  link(ticks: () => number, isAlive: () => boolean): StepsLink {
    const alive = async <T>(work: () => T): Promise<T> => {
      await after(ticks())
      if (!isAlive()) return new Promise<T>(() => {})
      const result = work()
      await (ticks() === 0 ? this.#together() : after(ticks()))
      return isAlive() ? result : new Promise<T>(() => {})
    }
    return {
      recorded: () =>
        alive(() => {
          const waits = [...this.#ends.keys()].map((name) => ({ name, asked: this.#asked.get(name) as number }))
          return { results: this.results.toSorted((a, b) => a.number - b.number), generation: 0, waits }
        }),
      step: (result) =>
        alive(() => {
          this.results.push(result as StepResult)
          return result.error
        }),
      wait: (waits, settled, end) => alive(() => this.#wait(waits, settled, end)),
    }
  }

  #together(): Promise<void> {
    this.#message ??= after(1).then(() => {
      this.#message = undefined
    })
    return this.#message
  }

  #wait(waits: readonly WantedWait[], settled: number, end: boolean) {
    // Results before it may be on their way.
    expect(settled).toBeGreaterThanOrEqual(Math.max(0, ...this.results.map(({ number }) => number)))
    if (end) expect(this.results).toHaveLength(new Set(this.results.map(({ number }) => number)).size)
    for (const { name, asked, delay = 0 } of waits) {
      if (!this.#ends.has(name)) this.#ends.set(name, this.now + delay)
      if (!this.#asked.has(name)) this.#asked.set(name, asked)
    }
    this.now++
    const results = this.#due(settled)
    if (results.length > 0 || !end) return { results, ended: false, next: 1 }
    return { results, ended: true }
  }

  #due(settled = Math.max(0, ...this.results.map(({ number }) => number))) {
    const due = [...this.#ends].filter(([, end]) => end <= this.now).sort(([, a], [, b]) => a - b)
    const results = due.map(([name], index) => {
      this.#ends.delete(name)
      return {
        number: settled + index + 1,
        asked: this.#asked.get(name) as number,
        name,
        kind: 'sleep' as const,
        value: null,
        run: 1,
        startedAt: 0,
        endedAt: 0,
      }
    })
    this.results.push(...results)
    return results
  }

  wake(): void {
    if (this.#ends.size === 0) return
    this.now = Math.max(this.now, Math.min(...this.#ends.values()))
    this.#due()
  }
}

interface Run {
  readonly seen: readonly string[]
  readonly end: 'asleep' | 'changed' | 'failed' | 'returned' | 'threw' | 'killed'
}

/** Runs the program once, for at most so many macrotasks. */
async function run(
  program: Program,
  engine: Engine,
  { isFirst, attempt, lifetime, ticks }: { isFirst: boolean; attempt: number; lifetime: number; ticks: () => number },
): Promise<Run> {
  const seen: string[] = []
  let isAlive = true
  let finish: (end: Run['end']) => void = () => {}
  let isOver = false
  const finished = new Promise<Run['end']>((resolve) => {
    finish = (end) => {
      isOver = true
      resolve(end)
    }
  })
  const timers = new Set<NodeJS.Immediate>()
  /** Calls back after so many macrotasks: long enough for whatever comes first, and soon over. */
  const inTurns = (left: number, call: () => void) => {
    const step = () => {
      if (left-- > 0) timer = setImmediate(step)
      else call()
      timers.add(timer)
    }
    let timer = setImmediate(step)
    timers.add(timer)
    return () => clearImmediate(timer)
  }
  const replay = new Replay({
    link: engine.link(ticks, () => isAlive),
    ...{ isFirst, jobId: 'job', attempt, maxDataBytes: 1_000, now: () => engine.now },
    isFinal: (_, attempts) => attempts >= MAX_ATTEMPTS,
    signal: () => new AbortController().signal,
    watch: (call) => inTurns(400, call),
    afterTurn: setImmediate,
    setTimer: (_, call) => inTurns(20, call),
    end: (error) => finish(error instanceof WaitSignal ? 'asleep' : isErrorOf(error, 'StepsChangedError') ? 'changed' : 'failed'),
  })
  const interpret = async (each: Program, name: string): Promise<unknown> => {
    // What a handler does in the microtasks after its end is not compared: the runs end at different moments of it.
    const note = (what: unknown) => {
      if (!isOver) seen.push(`${name} ${what}`)
    }
    switch (each.do) {
      case 'step':
        return replay
          .step(name, async () => {
            await after(each.ticks)
            const call = (engine.calls.get(name) ?? 0) + 1
            engine.calls.set(name, call)
            if (call <= each.fails) throw new RangeError(`${name} fails`)
            return { name, call }
          })
          .then(
            (value) => {
              note(JSON.stringify(value))
              return value
            },
            (error) => {
              note(error.message)
              throw error
            },
          )
      case 'sleep':
        await replay.wait(name, { delay: each.delay })
        note('woke')
        return name
      case 'microtasks':
        for (let count = 0; count < each.count; count++) await undefined
        return name
      case 'sequence': {
        for (const [index, inner] of each.of.entries()) await interpret(inner, `${name}.${index}`)
        note('done')
        return name
      }
      default: {
        const inner = each.of.map((one, index) => interpret(one, `${name}.${index}`))
        const together = {
          all: () => Promise.all(inner),
          race: () => Promise.race(inner),
          any: () => Promise.any(inner),
          settled: () => Promise.allSettled(inner),
        }[each.do]
        return together().then(
          (value) => {
            note(`${each.do} ${JSON.stringify(value)}`)
            return value
          },
          (error) => {
            note(`${each.do} ${error.message}`)
            throw error
          },
        )
      }
    }
  }
  interpret(program, 'p').then(
    () => finish('returned'),
    () => finish('threw'),
  )
  void after(lifetime).then(() => finish('killed'))
  const end = await finished
  isAlive = false
  replay.close()
  for (const timer of timers) clearImmediate(timer)
  return { seen, end }
}

const lives = fc.array(fc.record({ lifetime: fc.oneof(fc.nat(30), fc.constant(5_000)), seed: fc.nat() }), { minLength: 1, maxLength: 8 })

/** An answer that comes before the macrotask of its call has ended: a result that is delivered at once wins a race that it loses later. */
const atOnce: [Program, { lifetime: number; seed: number }[]] = [
  {
    do: 'race',
    of: [
      { do: 'sequence', of: [{ do: 'step', fails: 0, ticks: 0 }] },
      { do: 'microtasks', count: 6 },
    ],
  },
  [
    { lifetime: 5_000, seed: 646_185_030 },
    { lifetime: 5_000, seed: 0 },
  ],
]

test('runs of a job see the same results in the same order', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(program, lives, async (each, plans) => {
      const engine = new Engine()
      let longest: readonly string[] = []
      let attempt = 1
      for (let number = 0; number < 60; number++) {
        const { lifetime, seed } = plans[number] ?? { lifetime: 5_000, seed: number }
        let state = seed
        const ticks = () => {
          state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
          return state % 3
        }
        const before = engine.results.length
        const { seen, end } = await run(each, engine, { isFirst: number === 0, attempt, lifetime, ticks })
        const common = Math.min(seen.length, longest.length)
        expect(seen.slice(0, common)).toEqual(longest.slice(0, common))
        if (seen.length > longest.length) longest = seen
        expect(end).not.toBe('changed')
        if (lifetime === 5_000) expect(end).not.toBe('killed')
        if (end === 'asleep') engine.wake()
        if (end === 'returned' || end === 'threw') {
          // Once more, with all that is recorded.
          const again = await run(each, engine, { isFirst: false, attempt, lifetime: 5_000, ticks })
          expect(again).toEqual({ seen: longest, end })
          const numbers = engine.results.map((result) => result.number)
          expect(new Set(numbers).size).toBe(numbers.length)
          return
        }
        attempt = engine.results.length > before ? 1 : end === 'failed' ? attempt + 1 : attempt
        if (attempt > MAX_ATTEMPTS) attempt = MAX_ATTEMPTS
      }
      throw new Error('it never ends')
    }),
    { numRuns: Number(process.env['RUNS'] ?? 300), endOnFailure: false, examples: [atOnce] },
  )
})
