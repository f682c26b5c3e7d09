/** A command and all processes that it has started and that have stayed in its process group, ended as a whole. */
import { systemClock } from '@millrace/worker'
import { endWithProcess } from './living.ts'
import { membersOf } from './proc.ts'

/** The interval of checks for remaining members, once the command itself has ended. */
const LOOK_MS = 50
/** The time after SIGKILL when remaining processes are left to the kernel. */
const KILLED_MS = 2_000

export class ProcessGroup {
  readonly #leader: number
  readonly #graceMs: number
  #ending = false
  #killedMono: number | undefined
  #forgetKill: (() => void) | undefined
  readonly #forgetExit: () => void

  /** @param leader the process that leads the group, started detached */
  constructor(leader: number, graceMs: number) {
    this.#leader = leader
    this.#graceMs = graceMs
    this.#forgetExit = endWithProcess(leader)
  }

  /** Sends SIGTERM now, and SIGKILL after the grace. */
  end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#signal('SIGTERM')
    this.#forgetKill = systemClock.setTimer(this.#graceMs, () => {
      this.#killedMono = systemClock.read().mono
      this.#signal('SIGKILL')
    })
  }

  /** Ends the processes that the leader has left behind after its exit. Resolves when none of them runs. */
  async gone(): Promise<void> {
    while (this.#isAlive()) {
      this.end()
      const { mono } = systemClock.read()
      if (this.#killedMono !== undefined && mono - this.#killedMono > KILLED_MS) break
      await new Promise<void>((resolve) => systemClock.setTimer(LOOK_MS, resolve))
    }
    this.#forgetKill?.()
    // From now on the number may belong to another group.
    this.#ending = true
    this.#forgetExit()
  }

  /** True if the group has members. While it has some, no other process gets its number. */
  #isAlive(): boolean {
    // If nothing reaps orphans, those that have ended remain members forever.
    return this.#signal(0) && (membersOf(this.#leader)?.length ?? 1) > 0
  }

  /** Returns false if the group has no processes. */
  #signal(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#leader, name)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ESRCH'
    }
  }
}
