/** Waits for a file's owner, and ends meanwhile: `impatient.ts <file>`. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { openEngine } from '@millrace/engine'

const FILES = '/proc/self/fd'
const round = () => new Promise((resolve) => setImmediate(resolve))

/** Whether the writer thread has the owner's lock file open, and so has come to where it waits. */
function isAtTheLock(): boolean {
  if (!existsSync(FILES)) return true
  return readdirSync(FILES).some((name) => {
    try {
      return readlinkSync(`${FILES}/${name}`).endsWith('-owner')
    } catch {
      return false
    }
  })
}

void openEngine({ file: process.argv[2] as string, waitForOwner: '10m' })
while (!isAtTheLock()) await round()
for (let more = 0; more < 1_000; more++) await round()
process.exit(7)
