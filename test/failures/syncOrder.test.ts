/** From outside, by the calls to the system: between a write to the log and its sync nothing goes out to a client. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, defineJob } from '@millrace/remote'
import { describe, expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const JOBS = 30
const CALLS = 'trace=pwrite64,pwritev,fsync,fdatasync,write,writev,sendmsg'
const STRACE = ['strace', '-f', '-y', '--seccomp-bpf', '-e', CALLS]

/** Why calls cannot be seen here; undefined where they can. */
function whyNoTrace(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', [...STRACE.slice(1), 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not on PATH'
  return status === 0 ? undefined : `strace may not trace: ${stderr.trim().split('\n').at(-1) ?? ''}`
}

/** What went out to a client: so often after a sync, and so often while the log had writes without one. */
interface Sent {
  readonly afterSync: number
  readonly unsynced: number
}

/** A write counts from its beginning, a sync from its end: where a call was cut in two by another thread's, each part is a line. */
function sentIn(trace: string): Sent {
  const begun = new Map<string, string>()
  const sent = { afterSync: 0, unsynced: 0 }
  let [isUnsynced, hasSynced] = [false, false]
  for (const line of trace.split('\n')) {
    const [, thread = '', resumed, call = resumed, file = begun.get(thread) ?? ''] =
      /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\(\d+<([^>]*)>)/.exec(line) ?? []
    const isCut = line.endsWith('<unfinished ...>')
    if (isCut) begun.set(thread, file)
    if (file.endsWith('-wal')) {
      if (call === 'pwrite64' || call === 'pwritev') isUnsynced = true
      else if (!isCut) [isUnsynced, hasSynced] = [false, true]
    } else if (/^(socket|UNIX)/.test(file) && resumed === undefined) {
      if (isUnsynced) sent.unsynced++
      else if (hasSynced) sent.afterSync++
      hasSynced = false
    }
  }
  return sent
}

/** Jobs one after the other, each enqueued, run and completed before the next: whatever the server writes is for what it then answers. */
async function traced(durability: 'full' | 'normal'): Promise<Sent> {
  const folder = temporaryFolder()
  const [file, socket, trace] = [join(folder, 'jobs.db'), join(folder, 'sock'), join(folder, 'trace')]
  const within = [...STRACE, '-o', trace]
  const server = startProgram(new URL('../remote/programs/server.ts', import.meta.url), [file, socket, durability], within)
  await server.said(/^listening$/)
  const engine = await connect(`unix:${socket}`, { connectTimeout: '30s' })
  const job = defineJob<number>({ name: 'double' })
  engine.work([job.handler(({ data }) => 2 * data)])
  for (let number = 0; number < JOBS; number++) expect(await (await engine.enqueue(job, number)).result()).toBe(2 * number)
  await engine.stop()
  server.child.stdin.end()
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
  return sentIn(readFileSync(trace, 'utf8'))
}

describe('E1: what goes out to a client', () => {
  test('goes out after the sync of what it tells, and each turn has its own', async ({ skip }) => {
    const problem = whyNoTrace()
    if (problem !== undefined) return skip(`calls cannot be seen here: ${problem}`)
    const { afterSync, unsynced } = await traced('full')
    expect(unsynced).toBe(0)
    // A job is enqueued by one turn, and completed by another.
    expect(afterSync).toBeGreaterThanOrEqual(2 * JOBS)
  })

  test('goes out before it under `normal`, which promises no more: this is seen', async ({ skip }) => {
    const problem = whyNoTrace()
    if (problem !== undefined) return skip(`calls cannot be seen here: ${problem}`)
    const { unsynced } = await traced('normal')
    expect(unsynced).toBeGreaterThanOrEqual(2 * JOBS)
  })
})
