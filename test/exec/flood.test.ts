// 5.4: a command that prints without end costs neither memory nor a disk.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { script, startBench } from './bench.ts'

const MIB = 2 ** 20
/** The collector lets some fifty lie; were it all kept, it would be many times that. */
const FLOOD_MIB = 400

test('5.4: 400 MiB of output: a log within its cap, head and tail in the job, and flat memory', { timeout: 120_000 }, async () => {
  const { run } = await startBench(
    {
      flood: script('echo begin; head -c "$1" /dev/zero | tr "\\\\0" x; echo end', { args: ['{{bytes}}'], timeout: '10m' }),
    },
    { logFolder: join(temporaryFolder(), 'logs'), maxLogBytes: 8 * MIB },
  )
  // What a run needs at all, and what the collector lets lie, is there after the first.
  await run('flood', { bytes: 50 * MIB })
  const before = process.resourceUsage().maxRSS
  const job = await run('flood', { bytes: FLOOD_MIB * MIB })
  const grownMib = (process.resourceUsage().maxRSS - before) / 1_024
  expect(job).toMatchObject({ state: 'completed', output: { stdout: { bytes: FLOOD_MIB * MIB + 10, truncated: true } } })
  const { head, tail } = job.output?.stdout ?? { head: '', tail: '' }
  expect([head.slice(0, 8), tail.slice(-6)]).toEqual(['begin\nxx', 'xxend\n'])
  expect(Buffer.byteLength(JSON.stringify(job.output))).toBeLessThanOrEqual(MIB)
  const path = job.output?.logFile as string
  expect(statSync(path).size).toBeLessThan(8 * MIB + 200)
  expect(readFileSync(path, 'utf8').slice(-60)).toMatch(/\n\[the log has its 8388608 bytes: what follows is not kept\]\n$/)
  process.stdout.write(`${FLOOD_MIB} MiB of output: the process has grown by ${grownMib.toFixed(1)} MiB\n`)
  expect(grownMib).toBeLessThan(FLOOD_MIB / 4)
})

test('an output of what JSON makes longer still fits where an output has to fit', async () => {
  const { run } = await startBench({ zeros: script('head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2') })
  const job = await run('zeros')
  expect(job.state).toBe('completed')
  expect(Buffer.byteLength(JSON.stringify(job.output))).toBeLessThanOrEqual(MIB)
  expect(Buffer.byteLength(JSON.stringify(job.output))).toBeGreaterThan(0.99 * MIB)
})

test('a smaller bound is kept too', async () => {
  const { run } = await startBench({ zeros: script('head -c 3000000 /dev/zero; echo é >&2', { maxOutputBytes: 32_768 }) })
  expect(Buffer.byteLength(JSON.stringify((await run('zeros')).output))).toBeLessThanOrEqual(32_768)
})
