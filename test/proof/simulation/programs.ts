/** Handlers that remember: a generated program of steps, sleeps and branches, by the number of its job alone, so that each run has the same. */
import { NonRetryableError } from '@millrace/core'
import type { Context } from '@millrace/worker'
import { Chance } from './chance.ts'
import type { Task } from './handlers.ts'
import type { StepBook } from './stepBook.ts'

interface Step {
  readonly kind: 'step'
  readonly name: string
  readonly ms: number
  /** So many calls of its function throw before one passes. */
  readonly fails: number
  readonly fatal: boolean
}

interface Sleep {
  readonly kind: 'sleep'
  readonly name: string
  readonly ms: number
}

/** A wait for a message, which may have an end. */
interface Receive {
  readonly kind: 'receive'
  readonly name: string
  readonly message: string
  readonly ms: number | undefined
}

interface Branches {
  readonly kind: 'all' | 'race'
  readonly name: string
  readonly branches: readonly Program[]
}

/** What a later version of the code does at its place, guarded by `changed`. */
interface Later {
  readonly kind: 'later'
  readonly name: string
}

type Program = readonly (Step | Sleep | Receive | Branches | Later)[]

const DEPTH = 2

/** The names of messages. */
export const MESSAGES = ['go', 'stop'] as const

/** The program of a job. */
function programOf({ number }: Task): Program {
  const chance = new Chance(number ^ 0x9706)
  const messageChance = new Chance(number ^ 0x3e55)
  let names = 0
  const sequence = (depth: number): Program => Array.from({ length: chance.whole(1, depth === 0 ? 4 : 2) }, () => part(depth))
  const part = (depth: number): Program[number] => {
    const name = `${chance.pick(['charge', 'ship', 'a b'])} ${++names}`
    if (depth < DEPTH && chance.hits(0.35))
      return {
        kind: chance.pick(['all', 'race']),
        name,
        branches: Array.from({ length: chance.whole(2, 3) }, () => sequence(depth + 1)),
      }
    if (chance.hits(0.3)) {
      const ms = chance.small(3_000)
      if (!messageChance.hits(0.4)) return { kind: 'sleep', name, ms }
      return { kind: 'receive', name, message: messageChance.pick(MESSAGES), ms: messageChance.hits(0.5) ? ms : undefined }
    }
    if (chance.hits(0.1)) return { kind: 'later', name }
    const fails = chance.hits(0.2) ? chance.whole(1, 5) : 0
    return { kind: 'step', name, ms: chance.small(150), fails, fatal: fails > 0 && chance.hits(0.3) }
  }
  return sequence(0)
}

export interface Interpreted {
  readonly book: StepBook
  readonly seq: number
  /** Passes virtual time. */
  readonly pass: (ms: number) => Promise<void>
  /** The code is the later version. */
  readonly isLater: boolean
}

/** Runs the program of a job. Returns all that its handler has got, in order. */
export async function interpret(context: Context<Task>, { book, seq, pass, isLater }: Interpreted): Promise<readonly string[]> {
  const { data, job, step, sleep, waitFor, changed } = context
  const trace: string[] = []
  const got = (what: string): void => {
    book.got(seq, job.run, trace.length, what, isLater)
    trace.push(what)
  }
  const call = async ({ name, ms, fails, fatal }: Step) => {
    try {
      const value = await step(name, async ({ key }) => {
        const calls = book.called(seq, job.run, name, key)
        await pass(ms)
        if (calls > fails) return { name, calls }
        throw fatal ? new NonRetryableError(`${name} never passes`) : new Error(`${name} does not pass yet`)
      })
      got(`${name} ${value.name}`)
    } catch (error) {
      got(`${name} ${(error as Error).name}`)
    }
  }
  const all = async (program: Program): Promise<void> => {
    for (const part of program) await one(part)
  }
  const one = async (part: Program[number]): Promise<void> => {
    switch (part.kind) {
      case 'step':
        return call(part)
      case 'sleep':
        await sleep(part.name, part.ms)
        got(part.name)
        return
      case 'receive': {
        const { name, message, ms } = part
        const received = await waitFor(message, { as: name, ...(ms !== undefined && { timeout: ms }) })
        book.received(seq, message, received)
        got(`${name} ${String(received ?? 'nothing')}`)
        return
      }
      case 'later':
        if (isLater && (await changed(part.name))) await call({ kind: 'step', name: `${part.name} later`, ms: 5, fails: 0, fatal: false })
        return
      case 'all':
        await Promise.all(part.branches.map(all))
        got(part.name)
        return
      case 'race': {
        const winner = await Promise.race(part.branches.map((branch, index) => all(branch).then(() => index)))
        got(`${part.name} won by ${winner}`)
      }
    }
  }
  await all(programOf(data))
  return trace
}
