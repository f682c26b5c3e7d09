/** A process whose handler runs in a child process, and that goes on until it is killed. */
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const [folder] = process.argv.slice(2) as [string]
const job = defineJob<void, number>({ name: 'pid' })
const engine = await openEngine({ file: join(folder, 'jobs.db') })
engine.work(job.childProcess(new URL('../handlers/pid.ts', import.meta.url), { processes: 1 }))
const handle = await engine.enqueue(job)
process.stdout.write(`child ${await handle.result()}\n`)
