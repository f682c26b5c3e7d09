/** Runs, replays and matrices, each in processes of its own as it needs them, and what they amount to together. */
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Crash, Extension, Fault } from './extension.ts'
import { judgeLeft, traceOf } from './matrix.ts'
import type { FaultOrder, FaultResult } from './programs/faults.ts'
import { type Plan, type Recording, readRecording } from './recording.ts'
import { type Replayed, type ReplayOptions, replay } from './replay.ts'
import { type Harm, judgeRescue, type Rescued, type RescueOptions } from './rescue.ts'

const RECORD = fileURLToPath(new URL('programs/record.ts', import.meta.url))
const FAULTS = fileURLToPath(new URL('programs/faults.ts', import.meta.url))
const RESCUE = fileURLToPath(new URL('programs/rescue.ts', import.meta.url))
const CRASH = fileURLToPath(new URL('programs/crash.ts', import.meta.url))
// Started again and again: what was compiled once is not compiled anew.
const ENVIRONMENT = { ...process.env, NODE_OPTIONS: undefined, NODE_COMPILE_CACHE: join(tmpdir(), 'millrace-compile-cache') }

/** A folder of memory where there is one: what is tried there is never meant to last. */
export function memoryFolder(): string {
  return mkdtempSync(join(isWritable('/dev/shm') ? '/dev/shm' : tmpdir(), 'millrace-powerloss-'))
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

export class Campaign {
  readonly #extension: Extension
  readonly #folder: string
  readonly #over: () => boolean
  runs = 0
  cutPoints = 0
  images = 0
  engines = 0
  lost = 0
  corrupt = 0
  crashes = 0
  /** Turns whose COMMIT could not be synced. */
  doubts = 0
  readonly faults: Record<string, number> = {}
  readonly violations: string[] = []

  /** @param folder for the campaign alone; @param over whether there is no more time */
  constructor(extension: Extension, folder: string, over: () => boolean = () => false) {
    this.#extension = extension
    this.#folder = folder
    this.#over = over
  }

  record(plan: Plan): Recording {
    const folder = join(this.#folder, 'recorded')
    const { seed, durability, steps } = plan
    const { status, stderr } = this.#run(RECORD, [folder, String(seed), durability, String(steps)])
    if (status !== 0) throw new Error(`the recording of seed ${seed} (${durability}) has failed: ${stderr}`)
    this.runs++
    const recording = readRecording(folder, plan)
    rmSync(folder, { recursive: true })
    return recording
  }

  /** What is found counts as violations, unless it is to be found. */
  async replay(recording: Recording, options: Omit<ReplayOptions, 'folder'>, { expected = false } = {}): Promise<Replayed> {
    const folder = join(this.#folder, 'images')
    mkdirSync(folder, { recursive: true })
    const replayed = await replay(recording, { ...options, folder, over: this.#over })
    rmSync(folder, { recursive: true })
    this.cutPoints += replayed.cutPoints
    this.images += replayed.images
    this.engines += replayed.engines
    if (expected) return replayed
    this.lost += replayed.lost
    this.corrupt += replayed.corrupt
    this.violations.push(...replayed.violations)
    return replayed
  }

  /** Fails at every operation of every kind, in every way; or at so many of each, spread over the run. */
  async failEach(seed: number, most = Number.POSITIVE_INFINITY): Promise<void> {
    const program = new FaultProgram([this.#extension.path, join(this.#folder, 'faults')])
    try {
      const { counts, problems } = await program.ask({ seed })
      this.#broken(`--again none --seed ${seed}`, problems)
      for (const { fail, error, sticky } of FAULT_KINDS) {
        const name = `${fail}:${error}:${sticky ? 'sticky' : 'once'}`
        for (const at of spread(counts[fail], most, seed)) {
          if (this.#over()) return
          await this.fail(program, { seed, fault: { fail, error, sticky, at } }, name)
        }
      }
    } finally {
      await program.end()
    }
  }

  async fail(program: FaultProgram, order: Required<FaultOrder>, name: string): Promise<void> {
    const { met, doubts, images, problems } = await program.ask(order)
    this.runs++
    this.images += images
    this.engines += images
    this.doubts += doubts
    if (met) this.faults[name] = (this.faults[name] ?? 0) + 1
    this.#broken(`--again ${name}:${order.fault.at} --seed ${order.seed}`, problems)
  }

  /** Ends the process at every operation, before it or in its midst; or at so many of each. */
  async crashEach(seed: number, most = Number.POSITIVE_INFINITY): Promise<void> {
    const operations = this.#count(seed)
    for (const crash of ['before', 'half'] as const) {
      for (const at of spread(operations, most, seed)) {
        if (this.#over()) return
        await this.crash(seed, { crash, at })
      }
    }
  }

  /** Operations of the short run. */
  #count(seed: number): number {
    const folder = join(this.#folder, 'crashed')
    const { status, stderr } = this.#run(CRASH, [folder, String(seed), 'before', '0'])
    if (status !== 0) throw new Error(`the short run of seed ${seed} has failed: ${stderr}`)
    return traceOf(folder).filter(({ kind }) => kind === 'write' || kind === 'sync' || kind === 'truncate').length
  }

  async crash(seed: number, { crash, at }: Crash): Promise<void> {
    const folder = join(this.#folder, 'crashed')
    const { status, stderr } = this.#run(CRASH, [folder, String(seed), crash, String(at)])
    if (status !== 137) throw new Error(`the process that was to crash at ${at} ended with ${status}: ${stderr}`)
    this.runs++
    this.crashes++
    this.#broken(`--again crash:${crash}:${at} --seed ${seed}`, await judgeLeft(folder, traceOf(folder)))
  }

  /** Takes the files away from a run, and lets the power fail from then on. What is found counts as violations, unless it is to be found. */
  async rescue(seed: number, harm: Harm, options: Pick<RescueOptions, 'without' | 'cutsMax'> = {}): Promise<Rescued> {
    const folder = join(this.#folder, 'rescued')
    const { status, stderr } = this.#run(RESCUE, [folder, String(seed), harm])
    if (status !== 0) throw new Error(`the recording of seed ${seed} (${harm}) has failed: ${stderr}`)
    this.runs++
    const rescued = await judgeRescue(traceOf(folder), { ...options, seed, harm, folder: join(this.#folder, 'images') })
    rmSync(join(this.#folder, 'images'), { recursive: true })
    this.images += rescued.images
    this.engines += rescued.images
    if (options.without === undefined) this.#broken(`--again '${harm}' --seed ${seed}`, rescued.problems)
    return rescued
  }

  #run(program: string, [folder, ...args]: readonly [string, ...string[]]) {
    return spawnSync(process.execPath, [program, this.#extension.path, folder, ...args], { env: ENVIRONMENT, encoding: 'utf8' })
  }

  #broken(place: string, problems: readonly string[]): void {
    if (problems.length === 0) return
    this.corrupt++
    this.violations.push(`${place}: ${[...new Set(problems)].slice(0, 4).join('; ')}`)
  }
}

/** As the system's own VFS tells them: a full disk is found by writes, and whatever a sync meets is an error of the sync. */
const FAULT_KINDS: readonly Omit<Fault, 'at'>[] = [false, true].flatMap((sticky) => [
  { fail: 'write', error: 'full', sticky },
  { fail: 'write', error: 'ioerr_write', sticky },
  { fail: 'sync', error: 'ioerr_fsync', sticky },
  { fail: 'truncate', error: 'ioerr_truncate', sticky },
])

/** From 1 to `count`: all, or so many with about the same distance. */
function spread(count: number, most: number, seed: number): number[] {
  const every = Math.max(1, Math.ceil(count / most))
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => Math.min(count, 1 + (seed % every) + index * every))
}

/** The process in which the VFS makes the storage fail: one line of JSON in, one out. */
export class FaultProgram {
  readonly #child
  readonly #lines: AsyncIterator<string>
  #stderr = ''

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [FAULTS, ...args], { env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  async ask(order: FaultOrder): Promise<FaultResult> {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error(`the program has ended at ${JSON.stringify(order)}: ${this.#stderr}`)
    return JSON.parse(value) as FaultResult
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    await this.#lines.next()
  }
}
