/**
 * Counts what a plain job executes from its call to its reply: the files and the functions of the packages' sources that an enqueue, a run and
 * a completion enter, in a warm engine with SQLite in memory on one thread. V8 counts them itself.
 *
 *     node_modules/.bin/node test/cost/plainJob.ts [--list] [--root FOLDER]
 */
import { Session } from 'node:inspector/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WARM_JOBS = 200

export interface Executed {
  /** The names of the functions that were called, by file. */
  readonly files: ReadonlyMap<string, readonly string[]>
  readonly functions: number
}

/** Counts in the sources of a checkout. The kit of tests, which moves the clock, is left out. */
export async function executedByPlainJob(root = ROOT): Promise<Executed> {
  const sourceOf = (name: string) => pathToFileURL(resolve(root, `packages/${name}/src/index.ts`)).href
  const { createTestEngine } = (await import(sourceOf('testkit'))) as typeof import('@millrace/testkit')
  const { defineJob } = (await import(sourceOf('worker'))) as typeof import('@millrace/worker')
  const mail = defineJob<{ to: string }>({ name: 'mail' })
  await using kit = createTestEngine()
  const { engine } = kit
  await using _worker = engine.work([mail.handler(async () => {})])
  const runOne = async () => {
    const job = await engine.enqueue(mail, { to: 'ada' })
    await job.result()
  }
  for (let count = 0; count < WARM_JOBS; count++) await runOne()
  return await counted(resolve(root), runOne)
}

async function counted(root: string, run: () => Promise<void>): Promise<Executed> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const sources = `${pathToFileURL(root).href}/packages/`
  const files = new Map<string, readonly string[]>()
  for (const { url, functions } of result) {
    if (!url.startsWith(sources) || /\/(?:testkit|testing|node_modules)\//.test(url)) continue
    const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName }) => functionName || '(unnamed)')
    if (called.length > 0) files.set(url.slice(sources.length), called)
  }
  const names = [...files.values()]
  return { files, functions: names.reduce((sum, { length }) => sum + length, 0) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--root')
  const { files, functions } = await executedByPlainJob(at < 0 ? ROOT : process.argv[at + 1])
  const lines = [...files].toSorted().map(([path, names]) => `${path}: ${names.join(', ')}\n`)
  if (process.argv.includes('--list')) process.stdout.write(lines.join(''))
  process.stdout.write(`a plain job executes ${files.size} files and ${functions} functions\n`)
}
