/** A command with all that it has started and that has not left it: one process group, ended as a whole. */
import { systemClock } from '@millrace/worker'
import { endWithProcess } from './living.ts'
import { membersOf } from './proc.ts'

/** How often it is looked whether anyone is left, once the command itself has ended. */
const LOOK_MS = 50
/** What SIGKILL has not ended by then waits for the kernel. */
const KILLED_MS = 2_000

export class ProcessGroup {
  readonly #leader: number
  readonly #graceMs: number
  #ending = false
  #killedMono: number | undefined
  #forgetKill: (() => void) | undefined
  readonly #forgetExit: () => void

  /** @param leader the process whose group it is, started detached */
  constructor(leader: number, graceMs: number) {
    this.#leader = leader
    this.#graceMs = graceMs
    this.#forgetExit = endWithProcess(leader)
  }

  /** SIGTERM now, and SIGKILL after the grace. */
  end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#signal('SIGTERM')
    this.#forgetKill = systemClock.setTimer(this.#graceMs, () => {
      this.#killedMono = systemClock.read().mono
      this.#signal('SIGKILL')
    })
  }

  /** Ends what the leader, which has exited, has left behind. Resolves when nothing of it runs. */
  async gone(): Promise<void> {
    while (this.#isAlive()) {
      this.end()
      const { mono } = systemClock.read()
      if (this.#killedMono !== undefined && mono - this.#killedMono > KILLED_MS) break
      await new Promise<void>((resolve) => systemClock.setTimer(LOOK_MS, resolve))
    }
    this.#forgetKill?.()
    // From now on the number may be another's.
    this.#ending = true
    this.#forgetExit()
  }

  /** A number is given to no other process while a group of it has members: what is found is ours. */
  #isAlive(): boolean {
    // Where nobody takes care of orphans, those that have ended stay members for ever.
    return this.#signal(0) && (membersOf(this.#leader)?.length ?? 1) > 0
  }

  /** False: there is nobody. */
  #signal(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#leader, name)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ESRCH'
    }
  }
}
