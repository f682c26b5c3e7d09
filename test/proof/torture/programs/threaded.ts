/** A handler for the thread pool that keeps its thread busy for a while, and notes in a file when it begins and ends. */
import { createHash } from 'node:crypto'
import type { Context } from '@millrace/engine'
import { noteEnd, noteRun } from './effects.ts'

export interface Threaded {
  readonly effects: string
  readonly rounds: number
}

export async function handler({ data, job, heartbeat }: Context<Threaded>): Promise<string> {
  noteRun(data.effects, job)
  let digest = job.id
  for (let round = 0; round < data.rounds; round++) digest = createHash('sha256').update(digest.repeat(200)).digest('hex')
  await heartbeat()
  noteEnd(data.effects, job)
  return digest
}
