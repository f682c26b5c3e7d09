/** `pnpm bench:compare A.json B.json`: what got slower from the one to the other. */
import { parseArgs } from 'node:util'
import { compareResults } from './comparison.ts'
import { figureOf, formatFigure } from './figures.ts'
import { readResult } from './result.ts'
import { markdown } from './table.ts'

const HELP = `pnpm bench:compare BEFORE.json AFTER.json [--threshold 10] [--strict]

Holds two results against each other and names what got slower.

  --threshold PERCENT   what counts as a change, where the repetitions do not differ by more (10)
  --strict              end with 1 where something got slower
  --help                this
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threshold: { type: 'string', default: '10' },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [before, after] = positionals
if (values.help || before === undefined || after === undefined) {
  process.stdout.write(HELP)
  process.exitCode = values.help ? 0 : 1
} else compare(before, after)

function compare(fileBefore: string, fileAfter: string): void {
  const threshold = Number(values.threshold) / 100
  if (!(threshold > 0)) throw new RangeError(`--threshold takes a number of per cent above 0, not '${values.threshold}'`)
  const { changes, warnings } = compareResults(readResult(fileBefore), readResult(fileAfter), threshold)
  for (const warning of warnings) process.stdout.write(`note: ${warning}\n`)
  if (changes.length === 0) process.stdout.write('the two have no row in common\n')
  for (const verdict of ['slower', 'faster', 'same'] as const) {
    const found = changes.filter((change) => change.verdict === verdict)
    if (found.length === 0) continue
    const body = found.map(({ row, figure, before, after, gain }) => [
      row,
      figureOf(figure).title,
      formatFigure(figure, before),
      formatFigure(figure, after),
      `${gain >= 0 ? '+' : ''}${Math.round(gain * 100)} %`,
    ])
    process.stdout.write(`\n${verdict} (${found.length}):\n\n${markdown(['what', 'figure', 'before', 'after', 'speed'], body)}\n`)
  }
  if (values.strict && changes.some(({ verdict }) => verdict === 'slower')) process.exitCode = 1
}
