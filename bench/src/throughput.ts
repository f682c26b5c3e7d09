/** `pnpm bench:throughput`: whole jobs through the public API beside the limit, in one run on one machine. */
import { FLAGS_HELP, parseFlags } from './flags.ts'
import { measure } from './measure.ts'

const HELP = `pnpm bench:throughput [flags]

Measures this queue beside the limit (a hand-written better-sqlite3 loop, row by row, the same payload and durability), each run in
a process of its own, in turns; prints a table. Ends with 1 where a check fails. bench/README.md says what each figure means.

${FLAGS_HELP}
`

const flags = parseFlags(process.argv.slice(2), { only: [], peers: false, otherProcess: true })
if (flags.help) process.stdout.write(HELP)
else process.exitCode = await measure(flags)
