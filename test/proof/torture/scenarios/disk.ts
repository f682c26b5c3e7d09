/** A disk that fills up under load, in truth: a small tmpfs in a mount namespace of its own. */
import { Child } from '../child.ts'
import { NO_SMALL_DISK, smallDisk } from '../machine.ts'
import { type Outcome, type Scenario, skippedFor } from '../scenario.ts'

const SMALL_DISK = new URL('../programs/smallDisk.ts', import.meta.url)
const DISK_MIB = 96

/** 32: reads and completions go on, service resumes without a restart, and a kill on the full disk loses nothing. */
export const fullDisk: Scenario = async ({ folder, size }) => {
  const within = smallDisk(folder, DISK_MIB)
  if (within === undefined) return skippedFor(NO_SMALL_DISK)
  await using child = new Child(SMALL_DISK, [folder, size === 'slice' ? '2' : '10'], { within })
  const { code, stderr } = await child.ended
  const outcome = child.value<Outcome>('tally')
  if (code === 0 && outcome !== undefined) return outcome
  return { cycles: 0, kills: 0, acknowledged: 0, lost: 0, facts: [], violations: [`32: ended with ${code}: ${stderr}`] }
}
