/** Calls that come too often: twenty edits become one index run, a burst of alarms one message, and every page view one report. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, type JobHandle, openEngine } from '@millrace/engine'

const reindex = defineJob<{ edit: number }>({ name: 'reindex' })
const alarm = defineJob<{ sensor: string; number: number }>({ name: 'alarm' })
const report = defineJob<{ view: number }>({ name: 'report' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-shaping-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })
const ran: string[] = []
engine.work([
  reindex.handler(({ data }) => void ran.push(`reindexed at edit ${data.edit}`)),
  alarm.handler(({ data }) => void ran.push(`told of alarm ${data.number}`)),
  report.handler(({ data }) => void ran.push(`reported view ${data.view}`)),
])

// In one burst: each call is answered with the job that there is for it.
const calls = Array.from({ length: 20 }, (_, index) => index + 1).flatMap((number) => [
  engine.enqueue(reindex, { edit: number }, { debounce: { key: 'page-7', delay: '1s', maxDelay: '1m' } }),
  engine.enqueue(alarm, { sensor: 'door', number }, { debounce: { key: 'door', delay: '1m', mode: 'leading' } }),
  engine.enqueue(report, { view: number }, { throttle: { key: 'views', period: '1h' } }),
])
const handles = new Map<string, Promise<unknown>>()
for (const handle of await Promise.all<JobHandle>(calls)) if (handle.created) handles.set(handle.id, handle.result({ timeout: '1m' }))
await Promise.all(handles.values())
console.log(`60 calls, ${handles.size} jobs: ${ran.sort().join(', ')}`)

await engine.stop()
rmSync(folder, { recursive: true })
