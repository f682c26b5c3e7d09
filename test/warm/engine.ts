/** Loads what every thread of the engine loads: the writer, a reader, a thread of the pool. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const folder = mkdtempSync(join(tmpdir(), 'millrace-warm-'))
const answer = defineJob<{ do: string; value: number }>({ name: 'answer' })
const engine = await openEngine({ file: join(folder, 'jobs.db') })
engine.work([answer.thread(new URL('../engine/handlers/answer.ts', import.meta.url), { threads: 1 })])
await (await engine.enqueue(answer, { do: 'square', value: 2 })).result()
await engine.list()
await engine.stop()
rmSync(folder, { recursive: true })
