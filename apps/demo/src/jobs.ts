/** The two kinds of job. Nothing here runs them: see run.ts. */
import { defineJob } from '@millrace/engine'
import type { Content } from './hashContent.ts'
import type { Part } from './scanFolder.ts'

export const QUEUE = 'demo'

const HOW = {
  queue: QUEUE,
  /** A kill of the process uses an attempt of each job that runs, so attempts are plenty: tries.ts counts what fails by itself. */
  maxAttempts: 10_000,
  backoff: { type: 'fixed', delay: 200 },
  /** Its clock starts when a job is handed out, and then it may stand behind very large files. */
  timeout: Number.POSITIVE_INFINITY,
} as const

/** One folder, or one part of a very large one. */
export const scan = defineJob<Part>({ name: 'scan', ...HOW })

export interface ScanOutput {
  readonly links: number
  readonly special: number
}

/** One file. */
export const hash = defineJob<HashData>({ name: 'hash', ...HOW })

export interface HashData {
  readonly path: string
}

export interface HashOutput extends Content {
  readonly ms: number
}
