/** `pnpm bench:peers`: the same beside other queues, each in its own durability class. */
import { FLAGS_HELP, parseFlags } from './flags.ts'
import { measure } from './measure.ts'

const HELP = `pnpm bench:peers [flags]

Measures this queue and the limit beside other queues: each set up as its documentation recommends for speed, with as many calls in
flight, in its own durability class, and every job counted. One whose package or server is missing is skipped with its reason.

  pnpm bench:peers --only handlers --peer plainjob,bullmq

measures handlers as people write them, the same in each queue.

${FLAGS_HELP}
`

const flags = parseFlags(process.argv.slice(2), {
  only: ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle'],
  peers: true,
  otherProcess: false,
})
if (flags.help) process.stdout.write(HELP)
else process.exitCode = await measure(flags)
