/**
 * Tries mutants one by one. First the unit tests that reach it, nearest first; then worlds of the simulator; then, if asked for, the
 * system tests that reach it. The first failure, or a run that takes many times as long as usual, ends it.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { areaOf } from './areas.ts'
import type { Planted } from './copy.ts'
import { ACTIVE, REACHED, TEST } from './mutant.ts'
import type { Mutant } from './plant.ts'
import type { Answer, Request } from './tester.ts'

export type Verdict = 'unit' | 'simulation' | 'system' | 'timeout' | 'survived'

export interface Outcome {
  readonly verdict: Verdict
  /** The test or the line that saw it. */
  readonly by: string
  readonly seconds: number
}

const WORLDS = 60
/** Of the unit tests of other folders, as many are tried as usually end in that time. */
const FAR_MS = 40_000
/** The name that the simulator has among the tests. */
const SIMULATION = 'test/proof/simulation/main.ts'
/** Test files that are told to run at once while the reached mutants are looked for. */
const SLICE = 25
/** A run is given up after `PATIENCE_MS` and so many times its usual time: the machine may have other work. */
const PATIENCE = 6
const PATIENCE_MS = 20_000
const LOOKING_MS = 1_200_000

export class Campaign {
  readonly #planted: Planted
  readonly #say: (line: string) => void
  readonly #reachedBy: Set<string>[]
  /** How long each test file took without a mutant; only those that passed. */
  readonly #usualMs = new Map<string, number>()
  #tester: ChildProcess | undefined
  #files: readonly string[] = []

  constructor(planted: Planted, say: (line: string) => void) {
    this.#planted = planted
    this.#say = say
    this.#reachedBy = planted.mutants.map(() => new Set())
  }

  /** Runs everything once without a mutant. */
  async look(system: boolean): Promise<void> {
    const { root, mutants } = this.#planted
    const reached = join(root, 'reached')
    mkdirSync(reached)
    await this.#start()
    const areas = [...new Set(mutants.map(({ file }) => areaOf(file)))]
    const folders = new Set(areas.flatMap((area) => [...area.units, ...(system ? area.system : [])]))
    const files = this.#files.filter((file) => [...folders].some((folder) => file.startsWith(`${folder}/`)))
    for (let at = 0; at < files.length; at += SLICE) {
      const answer = await this.#ask({ files: files.slice(at, at + SLICE), reached }, LOOKING_MS)
      if (answer === undefined) this.#say('a slice of the tests did not end, and is left out')
      for (const { file, ok, ms } of answer?.ran ?? []) {
        if (ok) this.#usualMs.set(file, ms)
        else this.#say(`${file} fails without a mutant, and is left out`)
      }
      this.#say(`${Math.min(at + SLICE, files.length)} of ${files.length} test files looked at`)
    }
    const startedMs = performance.now()
    const failure = await this.#simulate({ [REACHED]: reached, [TEST]: join(root, SIMULATION) }, LOOKING_MS)
    if (failure === undefined) this.#usualMs.set(SIMULATION, performance.now() - startedMs)
    else this.#say(`the simulation fails without a mutant, and is left out: ${failure}`)
    for (const name of readdirSync(reached)) {
      const test = relative(root, decodeURIComponent(name))
      for (const id of readFileSync(join(reached, name), 'utf8').split('\n')) if (id !== '') this.#reachedBy[Number(id)]?.add(test)
    }
  }

  async try(id: number): Promise<Outcome> {
    const startedMs = performance.now()
    const [verdict, by] = await this.#verdict(id)
    return { verdict, by, seconds: Math.round((performance.now() - startedMs) / 100) / 10 }
  }

  end(): void {
    if (this.#tester?.pid !== undefined && this.#tester.exitCode === null) kill(this.#tester)
    this.#tester = undefined
  }

  async #verdict(id: number): Promise<readonly [Verdict, string]> {
    const mutant = this.#planted.mutants[id] as Mutant
    const tests = [...(this.#reachedBy[id] as Set<string>)]
      .filter((test) => this.#usualMs.has(test) && test !== SIMULATION)
      .toSorted((a, b) => distance(a, mutant) - distance(b, mutant) || this.#ms(a) - this.#ms(b))
    const own = areaOf(mutant.file).units
    const unit = tests.filter((test) => own.some((folder) => test.startsWith(`${folder}/`)))
    const far = unit.filter((test) => distance(test, mutant) >= 2)
    for (const files of [unit.filter((test) => distance(test, mutant) < 2), this.#first(far, FAR_MS)]) {
      const found = await this.#run(id, files, 'unit')
      if (found !== undefined) return found
    }
    if (this.#reachedBy[id]?.has(SIMULATION) && this.#usualMs.has(SIMULATION)) {
      const failure = await this.#simulate({ [ACTIVE]: `${id}` }, this.#patience([SIMULATION]))
      if (failure !== undefined) return [failure === '' ? 'timeout' : 'simulation', failure === '' ? SIMULATION : failure]
    }
    const system = tests.filter((test) => test.startsWith('test/'))
    const found = await this.#run(id, system, 'system')
    return found ?? ['survived', tests.length === 0 ? 'no test reaches it' : `${unit.length} unit tests reach it`]
  }

  /** As many as usually end in that time, and one at least. */
  #first(tests: readonly string[], ms: number): string[] {
    let sum = 0
    return tests.filter((test, place) => {
      sum += this.#ms(test)
      return place === 0 || sum <= ms
    })
  }

  async #run(id: number, files: readonly string[], tier: 'unit' | 'system'): Promise<readonly [Verdict, string] | undefined> {
    if (files.length === 0) return undefined
    const answer = await this.#ask({ files, mutant: id }, this.#patience(files))
    if (answer === undefined) return ['timeout', files.length === 1 ? (files[0] as string) : `one of ${files.length} test files`]
    return answer.failure === undefined ? undefined : [tier, answer.failure]
  }

  #ms(test: string): number {
    return this.#usualMs.get(test) ?? 0
  }

  #patience(tests: readonly string[]): number {
    return PATIENCE_MS + PATIENCE * tests.reduce((sum, test) => sum + this.#ms(test), 0)
  }

  async #start(): Promise<ChildProcess> {
    const { root } = this.#planted
    // In a group of its own, so that what it has started ends with it.
    const tester = fork(join(root, 'test/mutants/tester.ts'), { cwd: root, detached: true })
    this.#tester = tester
    ;[this.#files] = (await once(tester, 'message')) as [string[]]
    return tester
  }

  /** @returns undefined when the time is over, or the process has died */
  async #ask(request: Request, limitMs: number): Promise<Answer | undefined> {
    const tester = this.#tester ?? (await this.#start())
    const over = new AbortController()
    const { signal } = over
    const timer = setTimeout(() => over.abort(), limitMs)
    const died = once(tester, 'exit', { signal }).then(() => undefined)
    const answered = once(tester, 'message', { signal }).then(([answer]) => answer as Answer)
    tester.send(request)
    const first = await Promise.race([answered, died]).catch(() => undefined)
    clearTimeout(timer)
    over.abort()
    await Promise.allSettled([answered, died])
    if (first === undefined) this.end()
    return first
  }

  /** @returns the violation; an empty string when the time is over; undefined if all is well */
  async #simulate(env: NodeJS.ProcessEnv, limitMs: number): Promise<string | undefined> {
    const { root } = this.#planted
    const args = [join(root, SIMULATION), '--share', '--from', '1', '--seeds', `${WORLDS}`]
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, limitMs)
    const hear = (text: string) => {
      said += text
      // The simulator would go on, and shrink the seed.
      if (/^seed \d+: .*\n/m.test(said)) child.kill('SIGKILL')
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(timer)
    if (timedOut) return ''
    return code === 0 ? undefined : (/^seed \d+: .*/m.exec(said)?.[0] ?? said.trim().slice(0, 200)) || 'it ended early'
  }
}

/** 0 for the tests of that file, then those of its folder, of its package, and all others. */
function distance(test: string, { file }: Mutant): number {
  if (dirname(test) === dirname(file)) return basename(test).startsWith(`${basename(file, '.ts')}.`) ? 0 : 1
  return test.split('/')[1] === file.split('/')[1] ? 2 : 3
}

function kill(child: ChildProcess): void {
  try {
    process.kill(-(child.pid as number), 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
