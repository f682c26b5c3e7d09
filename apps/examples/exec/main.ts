/** A worker that allows three commands: a program with an argument from the job, one that reads the job's data, and a script. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { type ExecOutput, execHandlers } from '@millrace/exec'

const folder = mkdtempSync(join(tmpdir(), 'millrace-exec-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })

const commands = {
  // What comes from a job is behind `--`, so that it is never an option.
  checksum: { file: '/usr/bin/cksum', args: ['--', '{{path}}'], timeout: '1m' },
  sort: { file: '/usr/bin/sort', stdin: 'data' },
  // A shell only where it says so; the job's data is in variables, never in the text.
  report: { shell: true, file: 'echo "checking $JOB_DATA_DISK" >&2; test "$JOB_DATA_DISK" != sdb', noRetryCodes: [1] },
} as const

const logFolder = join(folder, 'logs')
engine.work(execHandlers(commands, { logFolder }), { concurrency: 4 })

const ended = async (name: string, data: unknown): Promise<ExecOutput> => {
  const handle = await engine.enqueue(name, data)
  return (await handle.result({ timeout: '1m' })) as ExecOutput
}

const sum = await ended('checksum', { path: '/dev/null' })
console.log(`checksum: exit code ${sum.exitCode}, ${sum.stdout.head.trim()}`)
console.log(`log: ${sum.logFile !== undefined && existsSync(sum.logFile) ? 'written' : 'missing'}`)

const sorted = await ended('sort', new TextEncoder().encode('pear\napple\nfig\n'))
console.log(`sort: ${sorted.stdout.head.trim().split('\n').join(', ')}`)

const healthy = await ended('report', { disk: 'sda; rm -rf /' })
console.log(`report: ${healthy.stderr.head.trim()}`)

const failed = await engine.enqueue('report', { disk: 'sdb' })
await failed.result({ timeout: '1m' }).catch(() => {})
console.log(`failed: ${(await engine.get(failed.id))?.attempts[0]?.error?.message}`)

await engine.stop()
rmSync(folder, { recursive: true })
