// To be bundled whole: runs a job here, one in a thread and one in a child process, reads them, and ends by itself.
import { readFileSync } from 'node:fs'
import { defineJob, openEngine } from '@millrace/engine'

const [double, resize, shrink] = ['double', 'resize', 'shrink'].map((name) => defineJob({ name }))
const module = new URL('./resize.mjs', import.meta.url)

const engine = await openEngine({ file: 'bundled.db' })
engine.work([double.handler(({ data }) => data * 2), resize.thread(module, { threads: 1 }), shrink.childProcess(module, { processes: 1 })])
const outputs = []
for (const job of [double, resize, shrink]) outputs.push(await (await engine.enqueue(job, 21)).result())
const { jobs } = await engine.list({ limit: 5 })
const [{ version }] = await engine.workers()
await engine.stop()
const tornDown = readFileSync('torn-down.txt', 'utf8').trim().split('\n').sort()
process.stdout.write(JSON.stringify({ outputs, listed: jobs.length, version, tornDown }))
