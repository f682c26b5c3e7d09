/** `pnpm bench:alternatives`: what each way of writing jobs costs in SQLite, beside the one that the engine has chosen. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AS_THE_ENGINE, runStoreLoop, type StoreLoop } from './alternatives/storeLoop.ts'
import type { Figures } from './measurement.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const HELP = `pnpm bench:alternatives [--repetitions 3] [--folder FOLDER]

Turns of 250 jobs: inserted as running, completed in the next turn, the oldest pruned beyond 100,000. Microseconds per job, medians.
`

const ALTERNATIVES: readonly (readonly [what: string, change: Partial<StoreLoop>])[] = [
  ['as the engine does it', {}],
  ['insert row by row', { insert: 'row' }],
  ['complete row by row', { update: 'row' }],
  ['complete by lists of 50', { update: 'list' }],
  ['complete by VALUES of 50', { update: 'values' }],
  ['complete by json_each', { update: 'json' }],
  ['an index of running jobs', { indexes: 'active' }],
  ['an index of finished jobs', { indexes: 'finished' }],
  ['both indexes', { indexes: 'both' }],
  ['finished jobs in a table of their own', { tables: 'two' }],
  ['no journal', { journal: false }],
  ['no CHECK constraints', { checks: false }],
  ['no auto_vacuum', { autoVacuum: 'none' }],
  ['pages of 8 KiB', { pageSize: 8192 }],
  ['pages of 16 KiB', { pageSize: 16_384 }],
  ['checkpoint at 1,000 pages', { checkpointPages: 1_000 }],
  ['checkpoint at 16,000 pages', { checkpointPages: 16_000 }],
  ['turns of 100', { turn: 100 }],
  ['turns of 1,000', { turn: 1_000 }],
  ['turns of 2,000', { turn: 2_000 }],
  ['nothing pruned', { keep: Number.MAX_SAFE_INTEGER }],
]

const COLUMNS = ['totalMicros', 'insertMicros', 'updateMicros', 'pruneMicros', 'commitMicros'] as const

const { values } = parseArgs({
  options: {
    repetitions: { type: 'string', default: '3' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else compare(Number(values.repetitions), values.folder)

function compare(repetitions: number, parent: string): void {
  if (!Number.isInteger(repetitions) || repetitions < 1) throw new RangeError('--repetitions takes a whole number from 1 on')
  const runs = ALTERNATIVES.map((): Figures[] => [])
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const [index, [what, change]] of ALTERNATIVES.entries()) {
      const folder = mkdtempSync(join(parent, 'millrace-bench-'))
      try {
        const figures = runStoreLoop({ ...AS_THE_ENGINE, ...change, file: join(folder, 'jobs.db') })
        runs[index]?.push(figures)
        process.stderr.write(`${what} (${repetition}/${repetitions}): ${figures['totalMicros']?.toFixed(2)} µs\n`)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  const body = ALTERNATIVES.map(([what], index) => [
    what,
    ...COLUMNS.map((column) => median((runs[index] as Figures[]).map((figures) => figures[column] as number)).toFixed(2)),
  ])
  process.stdout.write(`${markdown(['µs per job', 'total', 'insert', 'complete', 'prune', 'commit'], body)}\n`)
}
