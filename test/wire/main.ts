/** The fuzzer's command line: `node test/wire/main.ts --frames 10000000`. It says where it began, and what it finds is replayed by one line. */
import { parseArgs } from 'node:util'
import { fuzz } from './fuzz.ts'

const HELP = `node test/wire/main.ts [options]

  --frames N   so many mutated frames (1,000,000)
  --seed N     of the first one, the next has the next (drawn at random, and printed); with --frames 1 replays one
`
const { values } = parseArgs({
  options: { frames: { type: 'string', default: '1000000' }, seed: { type: 'string' }, help: { type: 'boolean', default: false } },
})
const say = (line: string): void => void process.stdout.write(`${line}\n`)

if (values.help) say(HELP)
else {
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  const frames = Number(values.frames)
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(frames) || frames < 1)
    throw new RangeError('--seed and --frames are whole numbers')
  say(`${frames} frames from seed ${seed}`)
  const beganMs = performance.now()
  const { accepted, refused, grownBytes } = fuzz(seed, frames)
  const seconds = (performance.now() - beganMs) / 1_000
  const codes = Object.entries(refused).map(([code, count]) => `${count} ${code}`)
  say(
    `${accepted} accepted, refused: ${codes.join(', ')}; ${Math.round(seconds)} s, ${Math.round(frames / seconds)} frames/s, grown by ${(grownBytes / 2 ** 20).toFixed(1)} MiB at most`,
  )
}
