// The measurements run, check what they measured, and say it as a table, as JSON, as charts and beside each other.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FEATURES } from '../../bench/src/features.ts'
import { temporaryFolder } from '../temporary.ts'
import { runBench } from './benchProcess.ts'

interface Row {
  readonly experiment: string
  readonly subject: string
  readonly label: string
  readonly figures: Record<string, number>
  readonly ratio?: number
  readonly runs: readonly Record<string, number>[]
  readonly checks: readonly string[]
}

interface Result {
  readonly rows: readonly Row[]
  readonly failed: readonly unknown[]
  readonly skipped: readonly { readonly subject: string; readonly experiment: string; readonly reason: string }[]
  readonly settings: Readonly<Record<string, number>>
}

const FEW = ['--quick', '--jobs', '200', '--folder']

test('throughput: each figure beside the limit, with its checks, as a table and as JSON', async () => {
  const folder = temporaryFolder()
  const json = join(folder, 'result.json')
  const { code, stdout, stderr } = await runBench('throughput', ...FEW, folder, '--only', 'endToEnd,idle', '--json', json)
  expect(code, stderr).toBe(0)
  const result = JSON.parse(readFileSync(json, 'utf8')) as Result
  expect(result.failed).toEqual([])
  expect(result.settings).toMatchObject({ jobs: 200, repetitions: 1, payloadBytes: 120 })
  const rowOf = (experiment: string, subject: string, label: string) =>
    result.rows.find((row) => row.experiment === experiment && row.subject === subject && row.label === label)
  for (const label of ['normal', 'full']) {
    const limit = rowOf('endToEnd', 'limit', label)
    const own = rowOf('endToEnd', 'millrace', label)
    expect(limit?.figures['jobsPerSecond']).toBeGreaterThan(0)
    expect(own?.ratio).toBeCloseTo((own?.figures['jobsPerSecond'] ?? 0) / (limit?.figures['jobsPerSecond'] ?? 1))
    expect(own?.checks).toContainEqual(expect.stringContaining('integrity_check ok'))
    expect(rowOf('idle', 'millrace', label)?.figures).toMatchObject({ p50Micros: expect.any(Number), p99Micros: expect.any(Number) })
    if (label === 'full') expect(own?.checks.join()).toMatch(/\d+ syncs for \d+ turns|syncs not counted: \S/)
  }
  expect(stdout).toContain('### endToEnd')
  expect(stdout).toContain('| one sync | full |')
  expect(readdirSync(folder), 'nothing is left of the runs').toEqual(['result.json'])
})

test('plot and compare read what was written', async () => {
  const folder = temporaryFolder()
  const result = (rate: number) => ({
    format: 1,
    date: '2026-11-21T00:00:00.000Z',
    commit: 'unknown',
    machine: { cores: 2 },
    versions: { node: '24.0.0' },
    settings: { jobs: 200 },
    rows: ['limit', 'millrace'].map((subject) => ({
      experiment: 'endToEnd',
      subject,
      label: 'full',
      settings: { jobs: 200 },
      figures: { jobsPerSecond: subject === 'limit' ? 200_000 : rate },
      spread: 0.02,
      runs: [],
      checks: [],
    })),
    skipped: [],
    failed: [],
  })
  const [before, after] = ['before.json', 'after.json'].map((name) => join(folder, name)) as [string, string]
  writeFileSync(before, JSON.stringify(result(100_000)))
  writeFileSync(after, JSON.stringify(result(70_000)))

  const compared = await runBench('compare', before, after, '--strict')
  expect(compared.code, compared.stderr).toBe(1)
  expect(compared.stdout).toContain('slower (1):')
  expect(compared.stdout).toContain('| endToEnd: millrace, full | jobs/s | 100,000 | 70,000 | -30 % |')
  expect(compared.stdout).toContain('same (1):')

  const plotted = await runBench('plot', before, '--out', folder)
  expect(plotted.code, plotted.stderr).toBe(0)
  const chart = readFileSync(join(folder, 'whole-jobs.svg'), 'utf8')
  expect(chart).toContain('prefers-color-scheme: dark')
  expect(chart).toContain('100,000/s')
})

test('peers: the same handlers in another queue, next to ours', async () => {
  const folder = temporaryFolder()
  const json = join(folder, 'result.json')
  const handlers = ['--handler', 'async', '--handler', 'id is read', '--handler', 'empty', '--handler', '1 kB']
  const few = ['--quick', '--jobs', '200', '--peer-jobs', '100', '--folder', folder, '--json', json]
  const { code, stdout, stderr } = await runBench('peers', ...few, '--only', 'handlers', '--peer', 'plainjob', ...handlers)
  expect(code, stderr).toBe(0)
  const { rows, failed, skipped } = JSON.parse(readFileSync(json, 'utf8')) as Result
  expect(failed).toEqual([])
  const ofClass = (durability: string) =>
    rows.filter(({ label }) => label.startsWith(durability)).map(({ subject, label }) => `${subject}: ${label}`)
  const own = (durability: string) =>
    ['empty', 'async', "the handle's id is read", '1 kB of data, 1 kB of output'].map((name) => `millrace: ${durability}, ${name}`)
  expect(ofClass('full')).toEqual(['limit: full', ...own('full')])
  const [empty, async, ...others] = own('normal')
  const normal = ['limit: normal', empty, 'plainjob: normal, empty', async, 'plainjob: normal, async', ...others]
  expect(ofClass('normal'), 'no worker in another process').toEqual(normal)
  expect(rows.find(({ subject }) => subject === 'plainjob')?.ratio).toBeGreaterThan(0)
  expect(skipped).toEqual([
    { subject: 'other queues', experiment: 'handlers', reason: expect.stringMatching(/^the handle's id is read: \S/) },
    { subject: 'plainjob', experiment: 'handlers', reason: '1 kB of data, 1 kB of output: it stores no return value' },
  ])
  for (const name of ['empty', 'async', "the handle's id is read"])
    expect(stdout).toMatch(new RegExp(`\\| handler, \`normal\`: ${name} \\| [\\d.]+ times plainjob \\| 20 `))
})

const NAMES = Object.keys(FEATURES)
const AT_ONCE = 9
const parts = Array.from({ length: Math.ceil(NAMES.length / AT_ONCE) }, (_, part) => NAMES.slice(part * AT_ONCE, (part + 1) * AT_ONCE))

test.each(parts)('what features cost is measured beside an engine without, each with its check: %s, ...', async (...names) => {
  const folder = temporaryFolder()
  const json = join(folder, 'result.json')
  const features = names.flatMap((name) => ['--feature', name])
  const { code, stderr } = await runBench('throughput', ...FEW, folder, '--only', 'features', ...features, '--json', json)
  expect(code, stderr).toBe(0)
  const { rows, failed } = JSON.parse(readFileSync(json, 'utf8')) as Result
  expect(failed).toEqual([])
  expect(rows.map(({ label }) => label)).toEqual(expect.arrayContaining(names))
  for (const { label, figures } of rows) expect(figures['ofNone'], label).toBeGreaterThan(0)
})

test('pairs: another checkout and this one by turns, each with an engine of its own', async () => {
  const other = temporaryFolder()
  mkdirSync(join(other, 'bench', 'src'), { recursive: true })
  const fake =
    "import { writeFileSync } from 'node:fs'\nwriteFileSync(JSON.parse(process.argv[3]).file, '')\nconsole.log('{\"jobsPerSecond\":7}')\n"
  writeFileSync(join(other, 'bench', 'src', 'scenario.ts'), fake)
  const folder = temporaryFolder()
  const few = ['--only', 'drain', '--repetitions', '2', '--jobs', '200', '--folder', folder]
  const { code, stdout, stderr } = await runBench('pairs', other, ...few)
  expect(code, stderr).toBe(0)
  expect(stderr.match(/^drain .*?(?=:)/gm)).toEqual(['drain 1/2 before', 'drain 1/2 now', 'drain 2/2 now', 'drain 2/2 before'])
  const [, now, ratio] = /\| drain \| jobs\/s \| 7 \| ([\d,]+) \| ([\d.]+) \|/.exec(stdout) ?? []
  expect(Number(ratio)).toBeCloseTo(Number(now?.replaceAll(',', '')) / 7, -1)
  expect(readdirSync(folder), 'nothing is left of the runs').toEqual([])

  const nowhere = await runBench('pairs', folder)
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('is no checkout of this repository')])
})

test('a wrong flag is named, and measures nothing', async () => {
  const { code, stderr } = await runBench('throughput', '--only', 'nothing')
  expect(code).toBe(1)
  expect(stderr).toContain("--only knows no 'nothing': enqueue, bulk, drain, endToEnd")
  const feature = await runBench('throughput', '--feature', 'nothing')
  expect([feature.code, feature.stderr]).toEqual([1, expect.stringContaining("--feature knows no 'nothing': none; a limit of the queue")])
})
