/** The findings of a run: computed from its jobs as they are stored, so it is the same however often the run was interrupted. */
import type { Engine } from '@millrace/engine'
import { allJobs } from './allJobs.ts'
import { type DuplicateGroup, findDuplicates, type HashedFile } from './duplicates.ts'
import { type HashOutput, hash, type ScanOutput, scan } from './jobs.ts'
import type { Part } from './scanFolder.ts'

interface FileFound extends HashedFile {
  readonly ms: number
}

export interface Failure {
  readonly path: string
  readonly reason: string
}

export interface Report {
  readonly folder: string
  readonly files: number
  readonly bytes: number
  readonly folders: number
  readonly links: number
  readonly special: number
  /** Largest savings first. */
  readonly duplicates: readonly DuplicateGroup[]
  /** The slowest first. */
  readonly slowest: readonly FileFound[]
  readonly failed: number
  /** Some of those that failed, by path. */
  readonly failures: readonly Failure[]
}

const SLOWEST = 5
const FAILURES = 20

/** Rejects when the signal aborts. */
export async function makeReport(engine: Engine, folder: string, signal: AbortSignal): Promise<Report> {
  const files: FileFound[] = []
  for await (const { data, output } of allJobs(engine, hash.name, 'completed', signal)) {
    files.push({ ...(data as { path: string }), ...(output as HashOutput) })
  }
  return {
    folder,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    ...(await countFolders(engine, signal)),
    duplicates: findDuplicates(files),
    slowest: files.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST),
    ...(await findFailures(engine, signal)),
  }
}

async function countFolders(engine: Engine, signal: AbortSignal) {
  const counts = { folders: 0, links: 0, special: 0 }
  for await (const { data, output } of allJobs(engine, scan.name, 'completed', signal)) {
    const { from, to } = data as Part
    const { links, special } = output as ScanOutput
    // A part of a large folder is not another folder.
    if (from === undefined && to === undefined) counts.folders++
    counts.links += links
    counts.special += special
  }
  return counts
}

async function findFailures(engine: Engine, signal: AbortSignal) {
  const jobs: { id: string; path: string }[] = []
  for (const { name } of [scan, hash]) {
    for await (const { id, data } of allJobs(engine, name, 'failed', signal)) jobs.push({ id, path: (data as { path: string }).path })
  }
  const first = jobs.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, FAILURES)
  const failures = await Promise.all(first.map(async ({ id, path }) => ({ path, reason: await reasonOf(engine, id) })))
  return { failed: jobs.length, failures }
}

/** A list has no attempts in it: what the last one died of is asked for job by job. */
async function reasonOf(engine: Engine, id: string): Promise<string> {
  const job = await engine.get(id)
  return job?.attempts.at(-1)?.error?.message ?? 'no reason on record'
}
