/** Turns lines into jobs, in atomic commands. One is under way while the next is made, so a fast sender waits. */
import type { Engine, JobRequest } from '@millrace/client'
import { bytesOption, checkJsonText, type EnqueueOptions } from '@millrace/core'
import { defineJob } from '@millrace/worker'
import { BOUNDS } from './limits.ts'
import type { Line } from './requests/lines.ts'
import { refusePoison } from './requests/poison.ts'

export interface ImportOptions {
  readonly name: string
  readonly queue?: string | undefined
  /** The options of each job. */
  readonly options?: EnqueueOptions | undefined
  /** Makes each line create its job once: the job's key is this and the line's number. */
  readonly key?: string | undefined
  /** True if each line is JSON, false if it is a string. */
  readonly json: boolean
  /** True if each line is bytes, in base64. */
  readonly binary: boolean
}

export interface ImportCounts {
  readonly lines: number
  /** Blank lines, and those that begin with #. */
  readonly skipped: number
  readonly created: number
  readonly existing: number
  readonly refused: number
  /** The first of the refused lines. */
  readonly errors: readonly { readonly line: number; readonly code: string; readonly message: string }[]
}

interface Chunk {
  readonly jobs: JobRequest[]
  readonly numbers: number[]
  bytes: number
}

export class Importer {
  readonly #engine: Engine
  readonly #options: ImportOptions
  readonly #job: ReturnType<typeof defineJob>
  readonly #counts = { lines: 0, skipped: 0, created: 0, existing: 0, refused: 0, errors: [] as ImportCounts['errors'][number][] }
  #chunk: Chunk = newChunk()
  #sending: Promise<void> = Promise.resolve()

  constructor(engine: Engine, options: ImportOptions) {
    this.#engine = engine
    this.#options = options
    this.#job = defineJob({ name: options.name, ...(options.queue !== undefined && { queue: options.queue }) })
  }

  get counts(): ImportCounts {
    return this.#counts
  }

  /** Resolves when it can take the next lines. */
  async take(lines: readonly Line[]): Promise<void> {
    for (const { number, text, fault } of lines) {
      this.#counts.lines++
      if (text === undefined) this.#refuse(number, 'LINE', fault as string)
      else if (text.startsWith('#') || text.trim() === '') this.#counts.skipped++
      else this.#add(number, text)
      if (this.#chunk.jobs.length >= BOUNDS.importJobs || this.#chunk.bytes >= BOUNDS.importBytes) await this.#send()
    }
  }

  /** Resolves when all jobs are stored. */
  async end(): Promise<ImportCounts> {
    await this.#send()
    await this.#sending
    return this.#counts
  }

  /** Waits for the command that is under way. Lines that were not sent yet are dropped. */
  async stop(): Promise<void> {
    await this.#sending.catch(() => {})
  }

  #add(number: number, text: string): void {
    const { key } = this.#options
    const { jobs, numbers } = this.#chunk
    let data: unknown
    try {
      data = this.#read(text)
    } catch (error) {
      const { code = 'MALFORMED', message } = error as { code?: string; message: string }
      this.#refuse(number, code, message)
      return
    }
    const options = key === undefined ? this.#options.options : { ...this.#options.options, idempotencyKey: `${key}:${number}` }
    jobs.push(options === undefined ? { job: this.#job, data } : { job: this.#job, data, options })
    numbers.push(number)
    this.#chunk.bytes += text.length
  }

  #read(text: string): unknown {
    const { json, binary } = this.#options
    let data: unknown = text
    if (json) {
      checkJsonText('data', text)
      data = JSON.parse(text)
      refusePoison(text, data)
    }
    return binary ? bytesOption('data', data) : data
  }

  async #send(): Promise<void> {
    await this.#sending
    const chunk = this.#chunk
    this.#chunk = newChunk()
    if (chunk.jobs.length === 0) return
    this.#sending = this.#enqueue(chunk)
    // The next caller that awaits it gets the error.
    this.#sending.catch(() => {})
  }

  async #enqueue({ jobs, numbers }: Chunk): Promise<void> {
    try {
      await this.#create(jobs)
    } catch (error) {
      if (!isMisuse(error)) throw error
      // One refused job refuses all of them. Sending them one by one shows which one.
      for (const [index, job] of jobs.entries()) await this.#createOne(job, numbers[index] as number)
    }
  }

  async #createOne(job: JobRequest, number: number): Promise<void> {
    try {
      await this.#create([job])
    } catch (error) {
      if (!isMisuse(error)) throw error
      this.#refuse(number, error.code, error.message)
    }
  }

  async #create(jobs: readonly JobRequest[]): Promise<void> {
    for (const { created } of await this.#engine.enqueueMany(jobs)) this.#counts[created ? 'created' : 'existing']++
  }

  #refuse(line: number, code: string, message: string): void {
    this.#counts.refused++
    const { errors } = this.#counts
    if (errors.length < BOUNDS.importErrors) errors.push({ line, code, message })
  }
}

function newChunk(): Chunk {
  return { jobs: [], numbers: [], bytes: 0 }
}

function isMisuse(error: unknown): error is Error & { readonly code: string } {
  return ['OPTION_TYPE', 'OPTION_RANGE', 'VALIDATION'].includes((error as { code?: string } | null)?.code ?? '')
}
