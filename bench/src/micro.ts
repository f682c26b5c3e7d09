/** `pnpm bench`: the small things, one question a file. `pnpm bench NAME` asks one. */
import { Bench } from 'tinybench'
import { backoff } from './micro/backoff.ts'
import { codec } from './micro/codec.ts'
import { deadlines } from './micro/deadlines.ts'
import { decisions } from './micro/decisions.ts'
import { flows } from './micro/flows.ts'
import { ids } from './micro/ids.ts'
import { limits } from './micro/limits.ts'
import { line } from './micro/line.ts'
import { messages } from './micro/messages.ts'

const QUESTIONS: Readonly<Record<string, (bench: Bench) => void>> = {
  deadlines,
  line,
  decisions,
  codec,
  messages,
  flows,
  limits,
  ids,
  backoff,
}
const TIME_MS = 300

const asked = process.argv[2]
if (asked !== undefined && QUESTIONS[asked] === undefined) {
  console.error(`pnpm bench [NAME]: there is no question '${asked}': ${Object.keys(QUESTIONS).join(', ')}`)
  process.exit(asked === '--help' ? 0 : 1)
}
for (const [name, question] of Object.entries(QUESTIONS)) {
  if (asked !== undefined && asked !== name) continue
  const bench = new Bench({ name, time: TIME_MS })
  question(bench)
  await bench.run()
  for (const { result } of bench.tasks) if (result !== undefined && 'error' in result) throw result.error
  console.log(`\n${name}`)
  console.table(bench.table())
}
