/** The small things: one question a file. `pnpm bench` asks all of them, `pnpm bench NAME` one. */
import { Bench } from 'tinybench'
import { deadlines } from './micro/deadlines.ts'
import { encoding } from './micro/encoding.ts'
import { ids } from './micro/ids.ts'
import { line } from './micro/line.ts'

const QUESTIONS: Readonly<Record<string, (bench: Bench) => void>> = { deadlines, encoding, ids, line }

const asked = process.argv[2]
if (asked !== undefined && QUESTIONS[asked] === undefined) {
  console.error(`there is no question '${asked}': ${Object.keys(QUESTIONS).join(', ')}`)
  process.exit(1)
}
for (const [name, question] of Object.entries(QUESTIONS)) {
  if (asked !== undefined && asked !== name) continue
  const bench = new Bench({ name, time: 300 })
  question(bench)
  await bench.run()
  console.log(`\n${name}`)
  console.table(bench.table())
}
