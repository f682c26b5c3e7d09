// 5.4: a command that prints without end costs neither memory nor a disk.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { type EndedJob, script, startBench } from './bench.ts'

const MIB = 2 ** 20
/** Of the line that begins each file but the first. */
const MARK_BYTES = 128

/** All files of a run, in the order of what it printed, and all that they take. */
function logOf(job: EndedJob) {
  const path = job.output?.logFile as string
  const paths = ['.1.log', '.2.log', '.log'].map((end) => path.replace(/\.log$/, end))
  return {
    texts: paths.map((file) => readFileSync(file, 'latin1')),
    bytes: paths.reduce((sum, file) => sum + statSync(file).size, 0),
  }
}

const dropped = (texts: readonly string[]) =>
  Number(/^\[(\d+) bytes between \S+\.1\.log and this are not kept\] *\n/.exec(texts[1] ?? '')?.[1])
const keptBytes = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, -2 * MARK_BYTES)

/** The collector lets some fifty lie; were it all kept, it would be many times that. */
const FLOOD_MIB = 400

test('5.4: 400 MiB of output: a log within its bound, head and tail in the job, and flat memory', { timeout: 120_000 }, async () => {
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
  const { texts, bytes } = logOf(job)
  expect(bytes).toBeLessThanOrEqual(8 * MIB)
  expect(texts.map((text) => text.slice(0, 6))).toEqual(['begin\n', `[${dropped(texts)}`.slice(0, 6), '[conti'])
  expect(texts[2]?.slice(-6)).toBe('xxend\n')
  expect(keptBytes(texts) + dropped(texts)).toBe(FLOOD_MIB * MIB + 10)
  process.stdout.write(`${FLOOD_MIB} MiB of output: the process has grown by ${grownMib.toFixed(1)} MiB\n`)
  expect(grownMib).toBeLessThan(FLOOD_MIB / 4)
})

test('a log that rotates has the beginning and the end to the byte, and says how much is missing between them', async () => {
  const logFolder = join(temporaryFolder(), 'logs')
  const maxLogBytes = 30_000
  const { run } = await startBench({ count: script('seq 1 20000; echo end') }, { logFolder, maxLogBytes })
  const whole = `${Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')}end\n`
  const job = await run('count')
  const { texts, bytes } = logOf(job)
  expect(bytes).toBeLessThanOrEqual(maxLogBytes)
  const [first = '', second = '', last = ''] = texts
  expect(first).toBe(whole.slice(0, maxLogBytes / 3))
  const end = second.slice(MARK_BYTES) + last.slice(MARK_BYTES)
  expect(second).toHaveLength(maxLogBytes / 3)
  expect(whole.endsWith(end)).toBe(true)
  expect(dropped(texts)).toBe(whole.length - first.length - end.length)
  expect(readdirSync(logFolder)).toHaveLength(3)
})

test('a log that cannot rotate ends early: the job says so, and its command goes on', async () => {
  const logFolder = join(temporaryFolder(), 'logs')
  const { engine, run } = await startBench(
    { block: script('mkdir "$1/$JOB_ID-$JOB_RUN.1.log"; seq 1 20000', { args: ['{{logFolder}}'] }) },
    { logFolder, maxLogBytes: 30_000 },
  )
  const job = await run('block', { logFolder })
  expect(job).toMatchObject({ state: 'completed', output: { stdout: { bytes: 108_894, truncated: false } } })
  expect((await engine.get(job.id))?.attempts[0]?.logs).toMatchObject([
    { level: 'warn', message: expect.stringMatching(/^the log ends early: EISDIR/) },
  ])
  expect(statSync(job.output?.logFile as string).size).toBe(10_000)
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
