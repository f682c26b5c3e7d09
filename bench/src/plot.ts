/** `pnpm bench:plot`: charts of a result, as SVG files. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chartsOf } from './charts.ts'
import { readResult } from './result.ts'
import { latestSaved } from './saved.ts'
import { bars } from './svg/bars.ts'

const HELP = `pnpm bench:plot [RESULT.json] [--out FOLDER]

Draws the charts of a result (the latest in bench/results where none is named) as SVG files.

  --out FOLDER   where they are written (bench/charts)
  --help         this
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: join(import.meta.dirname, '..', 'charts') }, help: { type: 'boolean', default: false } },
})
if (values.help) process.stdout.write(HELP)
else plot(positionals[0] ?? latestSaved(), values.out)

function plot(file: string | undefined, out: string): void {
  if (file === undefined) throw new Error('nothing is saved yet: name a result, or measure with --save')
  mkdirSync(out, { recursive: true })
  for (const [name, chart] of Object.entries(chartsOf(readResult(file)))) {
    const path = join(out, `${name}.svg`)
    writeFileSync(path, bars(chart))
    process.stdout.write(`${path}\n`)
  }
}
