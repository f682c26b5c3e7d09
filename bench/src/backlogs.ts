/** Files with a backlog: each is filled once, and copied for every run that begins with it. */
import { constants, copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from './measurement.ts'
import { ROOT, runProcess } from './runProcess.ts'

export class Backlogs {
  readonly #folder: string
  readonly #root: string
  readonly #files = new Map<string, string>()

  /** `root`: the checkout whose engine fills them. */
  constructor(folder: string, root: string = ROOT) {
    this.#folder = folder
    this.#root = root
  }

  /** Puts the backlog that the settings ask for where the run's file is to be; nothing where they ask for none. */
  async lay({ backlog = 'none', backlogJobs = 0 }: Partial<Settings>, file: string): Promise<void> {
    if (backlog === 'none' || backlogJobs === 0) return
    const name = `${backlog}-${backlogJobs}`
    let full = this.#files.get(name)
    if (full === undefined) {
      full = join(this.#folder, `${name}.db`)
      await runProcess('fill', { file: full, backlog, backlogJobs }, { root: this.#root })
      this.#files.set(name, full)
    }
    // The engine that filled it was stopped and the WAL folded in: the file is whole, and nobody has it open.
    copyFileSync(full, file, constants.COPYFILE_FICLONE)
  }

  clear(): void {
    for (const file of this.#files.values()) for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
    this.#files.clear()
  }
}
