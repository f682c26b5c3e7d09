/**
 * Mutation testing: `node test/mutants/main.ts --sample 100 --seed 1`. It plants small bugs into a copy of the checkout, and counts those
 * that no test sees.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '@millrace/testkit/internal'
import { AREAS, areaOf, parseAreas } from './areas.ts'
import { Campaign } from './campaign.ts'
import { copyCheckout, plantAll } from './copy.ts'
import equivalents from './equivalents.json' with { type: 'json' }
import { type Seen, tryListed } from './listed.ts'
import type { Mutant } from './plant.ts'
import { keyOf, type Result, stale, table } from './score.ts'

const HELP = `pnpm mutants [options]

  --sample N         tries N mutants, drawn at random (100)
  --seed S           draws by this seed (drawn at random, and printed)
  --only PATH        draws from the files whose path begins with PATH; can be repeated
  --all              tries every mutant, in place of a sample: about 11,000, two seconds and more for each
  --system           also runs the system tests that reach a mutant which has survived the others
  --minutes N        ends after N minutes, and says how many of the sample it has tried
  --results FILE     adds a line of JSON to FILE for each mutant, and does not try those again that have one: a run can be continued
  --list             lists the mutants and ends
  --run test|all     tries the 60 mutants of listed.json on \`pnpm test\` or \`pnpm test:all\`: which of their files notice them?

Unit tests come first, nearest first, then 60 worlds of the simulator. equivalents.json names the mutants that no test can see.
It ends with 1 if one survives that is not among them.
`
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MS_PER_MINUTE = 60_000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    all: { type: 'boolean', default: false },
    system: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    results: { type: 'string' },
    list: { type: 'boolean', default: false },
    run: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

if (values.help) say(HELP)
else if (values.run !== undefined) process.exitCode = await tryCommand(values.run)
else {
  const files = parseAreas(ROOT, values.only)
  const mutants = files.flatMap((file) => file.mutants)
  if (mutants.length === 0) throw new RangeError(`--only ${values.only.join(' --only ')} fits no source file: --list names them`)
  if (values.list) for (const mutant of mutants) say(nameOf(mutant))
  else process.exitCode = await tryAll(files, mutants)
}

async function tryCommand(command: string): Promise<number> {
  if (command !== 'test' && command !== 'all') throw new RangeError(`--run must be test or all, got ${command}`)
  const seen = await tryListed(ROOT, command, earlierLines<Seen>(), (one) => {
    if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(one)}\n`)
    say(
      `${one.by === undefined ? 'not noticed' : `noticed by ${one.by || 'the run, which did not end'}`}: ${one.file}:${one.line} ${one.before} => ${one.after}`,
    )
  })
  for (const { name } of AREAS) {
    const of = seen.filter(({ file }) => areaOf(file).name === name)
    say(`${name}: ${of.filter(({ by }) => by !== undefined).length} of ${of.length} noticed`)
  }
  const missed = seen.filter(({ by }) => by === undefined)
  say(`pnpm ${command === 'all' ? 'test:all' : 'test'}: ${seen.length - missed.length} of ${seen.length} noticed`)
  return missed.length > 0 ? 1 : 0
}

async function tryAll(files: ReturnType<typeof parseAreas>, mutants: readonly Mutant[]): Promise<number> {
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * 1e6))
  const sample = shuffled(mutants, seed).slice(0, values.all ? mutants.length : Number(values.sample))
  say(`seed ${seed}: ${sample.length} of ${mutants.length} mutants in ${files.length} files`)
  const earlier = new Map(earlierLines<Result>().map((result) => [nameOf(result), result]))
  const results = sample.flatMap((mutant) => earlier.get(nameOf(mutant)) ?? [])
  const rest = sample.filter((mutant) => !earlier.has(nameOf(mutant)))
  if (rest.length > 0) results.push(...(await campaign(files, rest)))
  if (values.only.length === 0) for (const one of stale(equivalents, mutants)) say(`stale in equivalents.json: ${one.file}: ${one.before}`)
  const known = new Set(equivalents.map(keyOf))
  const survivors = results.filter((result) => result.verdict === 'survived' && !known.has(keyOf(result)))
  for (const survivor of survivors) say(`survived: ${nameOf(survivor)} (${survivor.by})`)
  for (const line of table(results, equivalents)) say(line)
  say(`seed ${seed}: ${results.length} tried of ${mutants.length}`)
  return survivors.length > 0 ? 1 : 0
}

async function campaign(files: ReturnType<typeof parseAreas>, wanted: readonly Mutant[]): Promise<Result[]> {
  const startedMs = performance.now()
  const limitMs = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes) * MS_PER_MINUTE
  const copy = copyCheckout(ROOT)
  const planted = plantAll(copy, files, new Set(wanted))
  const running = new Campaign(planted, say)
  const results: Result[] = []
  const end = () => {
    running.end()
    rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
  }
  // Ctrl-C leaves no copy behind. What `--results` has by then can be continued.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      end()
      process.exit(1)
    })
  try {
    await running.look(values.system)
    // In the order in which they were drawn: those tried until the time is over are a sample too.
    for (const [place, mutant] of wanted.entries()) {
      if (performance.now() - startedMs > limitMs) break
      const result = { ...mutant, ...(await running.try(planted.mutants.indexOf(mutant))) }
      results.push(result)
      if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(result)}\n`)
      say(`${place + 1} of ${wanted.length}: ${result.verdict} (${result.seconds} s) ${nameOf(mutant)}: ${result.by.slice(0, 120)}`)
    }
  } finally {
    end()
  }
  return results
}

function earlierLines<T>(): T[] {
  if (values.results === undefined || !existsSync(values.results)) return []
  const lines = readFileSync(values.results, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T)
}

function nameOf({ file, line, operator, before, after }: Mutant): string {
  return `${areaOf(file).name} ${operator} ${file}:${line} ${before} => ${after}`
}

/** The same order for the same seed. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  const random = seededRandom(seed)
  return all
    .map((one) => ({ one, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
