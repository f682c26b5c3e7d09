/** Waits until the run that has started it is over: its stdin ends then. `node keeper.ts FOLDER` */
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const LOOK_MS = 50
/** Servers of the run that notice its end themselves may take that long. */
const PATIENCE_MS = 2_000

const folder = process.argv[2] as string
await once(process.stdin.resume(), 'close')
for (let waitedMs = 0; left().length > 0; waitedMs += LOOK_MS) {
  if (waitedMs >= PATIENCE_MS) for (const pid of left()) kill(pid)
  await setTimeout(LOOK_MS)
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Returns the processes whose temporary files are in the folder. A system without /proc does not say. */
function left(): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.filter((pid) => environmentOf(pid).includes(`TMPDIR=${folder}`)).map(Number)
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // It has ended, or belongs to somebody else.
    return []
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
