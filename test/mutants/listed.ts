/**
 * Tries the mutants of listed.json on one command, `pnpm test` or `pnpm test:all`: does it notice them? Each mutant is written into a copy of
 * the checkout, alone, and the command runs on the files that cover its area, units first, until one of them fails.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AREAS, areaOf, parseAreas } from './areas.ts'
import { copyCheckout } from './copy.ts'
import listed from './listed.json' with { type: 'json' }
import { type Mutant, mutated, type Parsed } from './plant.ts'
import { keyOf } from './score.ts'

export type Command = 'test' | 'all'

export interface Seen extends Mutant {
  readonly command: Command
  /** The file whose tests noticed it; undefined if none did. */
  readonly by?: string
}

const VITEST = fileURLToPath(new URL('./vitest.mjs', import.meta.resolve('vitest/package.json')))
/** A run that takes longer hangs, and so it has noticed the mutant. */
const LIMIT_MS = 1_800_000

export async function tryListed(root: string, command: Command, earlier: readonly Seen[], say: (seen: Seen) => void): Promise<Seen[]> {
  const places = new Map(
    parseAreas(root, [], AREAS).flatMap((parsed) => parsed.mutants.map((mutant, index) => [keyOf(mutant), { parsed, index }])),
  )
  const results: Seen[] = []
  const copy = copyCheckout(root)
  const end = () => rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
  // An interrupted run leaves no copy and no vitest behind. `--results` keeps what it has found.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      running?.kill('SIGKILL')
      end()
      process.exit(1)
    })
  try {
    for (const one of listed) {
      const known = earlier.find((seen) => seen.command === command && keyOf(seen) === keyOf(one))
      const place = places.get(keyOf(one))
      if (known === undefined && place === undefined) throw new RangeError(`no source has the mutant ${one.file}: ${one.before}`)
      const seen = known ?? (await tryOne(copy, command, place as Place))
      results.push(seen)
      if (known === undefined) say(seen)
    }
  } finally {
    end()
  }
  return results
}

let running: ChildProcess | undefined

interface Place {
  readonly parsed: Parsed
  readonly index: number
}

async function tryOne(copy: string, command: Command, { parsed, index }: Place): Promise<Seen> {
  const mutant = parsed.mutants[index] as Mutant
  const { units, system } = areaOf(mutant.file)
  for (const folders of [units, system]) {
    if (folders.length === 0) continue
    writeFileSync(join(copy, mutant.file), mutated(parsed, index))
    const by = await firstFailure(copy, command, folders)
    writeFileSync(join(copy, mutant.file), parsed.source)
    // A file that also fails without the mutant says nothing about it.
    if (by !== undefined && (by === '' || (await firstFailure(copy, command, [by])) === undefined)) return { ...mutant, command, by }
  }
  return { ...mutant, command }
}

/** Returns the first file that fails; an empty string if the run does not end, or fails outside its files. */
async function firstFailure(copy: string, command: Command, paths: readonly string[]): Promise<string | undefined> {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const args = [
    VITEST,
    'run',
    '--mode',
    command,
    '--project',
    '!proof*',
    '--bail',
    '1',
    '--reporter',
    'json',
    '--outputFile',
    report,
    ...paths,
  ]
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: LIMIT_MS, killSignal: 'SIGKILL' })
  running = child
  const [status] = await once(child, 'close')
  if (status === 0) return undefined
  if (!existsSync(report)) return ''
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: { name: string; status: string }[] }
  const failed = testResults.find((file) => file.status === 'failed')
  return failed === undefined ? '' : relative(copy, failed.name)
}
