/** A fake engine: it keeps the commands of a worker, and answers as the test has set it up. */
import type { Command, CommandOf, Operation, ReplyOf } from '@millrace/core'
import type { Calls } from '../calls.ts'

/** The call is not answered before `settle`. */
export const LATER: unique symbol = Symbol('later')

/** Returns a value, an Error to refuse with, or LATER. */
type Answer = (command: never) => unknown

interface Open {
  readonly command: Command
  readonly finish: (value: unknown) => void
}

export class FakeCalls implements Calls {
  readonly said: Command[] = []
  readonly #answers = new Map<Operation, Answer>()
  #open: Open[] = []
  readonly #waiting = new Set<() => void>()

  call<Op extends Operation>(command: CommandOf<Op>): Promise<ReplyOf[Op]> {
    this.said.push(command)
    return new Promise((resolve, reject) => {
      const finish = (value: unknown) => (value instanceof Error ? reject(value) : resolve(value as ReplyOf[Op]))
      const answer = this.#answers.get(command.op)?.(command as never) ?? (command.op === 'attach' ? { lost: [] } : true)
      if (answer === LATER) this.#open.push({ command, finish })
      else finish(answer)
      for (const look of this.#waiting) look()
    })
  }

  /** Sets the answer to later calls of that kind; the default is the answer of an engine when all is well. */
  answer<Op extends Operation>(op: Op, answer: (command: CommandOf<Op>) => unknown): void {
    this.#answers.set(op, answer as Answer)
  }

  /** Makes later calls of that kind wait for `settle`. */
  hold(op: Operation): void {
    this.answer(op, () => LATER)
  }

  /** Answers the waiting calls of that kind; later calls are answered at once again. */
  settle(op: Operation, value?: unknown): void {
    this.#answers.delete(op)
    const open = this.#open.filter(({ command }) => command.op === op)
    this.#open = this.#open.filter(({ command }) => command.op !== op)
    for (const { finish } of open) finish(value ?? (op === 'attach' ? { lost: [] } : true))
  }

  of<Op extends Operation>(op: Op): readonly CommandOf<Op>[] {
    return this.said.filter((command): command is CommandOf<Op> => command.op === op)
  }

  /** The commands about runs, in order, without those about the worker itself. */
  get outcomes(): readonly Command[] {
    return this.said.filter(({ op }) => op === 'complete' || op === 'fail' || op === 'snooze' || op === 'join' || op === 'giveBack')
  }

  /** Resolves with the `count`th command of that kind, which may have been said already. */
  heard<Op extends Operation>(op: Op, count = 1): Promise<CommandOf<Op>> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.of(op)[count - 1]
        if (found === undefined) return
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** Resolves with the next command, whatever it is. */
  heardAny(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
    })
  }
}
