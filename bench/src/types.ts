/**
 * What types cost the compiler: a file of 100 definitions with handlers, enqueues and results, beside a file that imports the engine
 * alone. `node bench/src/types.ts [runs]`, 3 runs by default. ADR 39 has the figures.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = fileURLToPath(new URL('../.types', import.meta.url))
const FIGURES = ['Types', 'Instantiations', 'Memory used', 'Check time'] as const
const DEFINITIONS = 100

const importsAlone = `import { defineJob, type Engine } from '@millrace/engine'\nexport const imported = [defineJob, {} as Engine]\n`

const definition = (n: number) => `
interface Input${n} { path: string; width: number; tags: string[]; nested: { at: string; count${n}: number } }
export const job${n} = defineJob<Input${n}>({ name: 'job-${n}', maxAttempts: 3 })
export const handler${n} = job${n}.handler(async ({ data, job }) => ({ path: data.path, sum${n}: data.width + job.attempt, list: data.tags }))
export async function use${n}(engine: Engine): Promise<unknown> {
  const data: Input${n} = { path: 'a', width: ${n}, tags: [], nested: { at: 'b', count${n}: 1 } }
  const handle = await engine.enqueue(handler${n}.definition, data, { delay: '5m' })
  const many = await engine.enqueueMany([{ job: job${n}, data }, { job: job${n}, data }])
  const flow = await engine.flow([{ ref: 'a', job: job${n}, data }, { ref: 'b', job: job${n}, data, dependsOn: ['a'] }])
  await engine.schedules.upsert('s${n}', { cron: '0 3 * * *' }, { job: job${n}, data })
  return [await handle.result(), await many[0]?.result(), await flow.jobs.b.result()]
}
`

const whole = `import { defineJob, type Engine } from '@millrace/engine'\n${Array.from({ length: DEFINITIONS }, (_, n) => definition(n)).join('')}`

function measure(source: string): readonly number[] {
  writeFileSync(`${FOLDER}/definitions.ts`, source)
  writeFileSync(`${FOLDER}/tsconfig.json`, JSON.stringify({ extends: '../../tsconfig.json', include: ['definitions.ts'] }))
  const told = execFileSync(`${ROOT}/node_modules/.bin/tsc`, ['-p', FOLDER, '--extendedDiagnostics'], { encoding: 'utf8' })
  return FIGURES.map((name) => Number.parseFloat(told.match(new RegExp(`${name}:\\s+([\\d.]+)`))?.[1] ?? 'NaN'))
}

mkdirSync(FOLDER, { recursive: true })
try {
  const runs = Number(process.argv[2] ?? 3)
  for (const [name, source] of Object.entries({ 'the import alone': importsAlone, [`${DEFINITIONS} definitions`]: whole })) {
    const all = Array.from({ length: runs }, () => measure(source))
    const [best] = all.toSorted((a, b) => (a[3] as number) - (b[3] as number))
    process.stdout.write(`${name}: ${FIGURES.map((figure, index) => `${figure} ${best?.[index]}`).join(', ')}\n`)
  }
} finally {
  rmSync(FOLDER, { recursive: true, force: true })
}
