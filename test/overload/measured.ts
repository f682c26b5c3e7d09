/** A program in a process of its own that says what it has done and what memory it took: the frame of every overload. */
import { join } from 'node:path'
import { auditFile } from '../../packages/sqlite/src/testing/inspect.ts'
import { Child } from '../proof/torture/child.ts'
import { growthOfSecondHalf, type MemoryReport, type Sample } from '../proof/torture/memory.ts'
import { type Scenario, type Setting, Tally } from '../proof/torture/scenario.ts'

interface Measured {
  readonly memory: MemoryReport
}

/** What a scenario holds against what its program has said. */
type Check<Said> = (said: Said & Measured, tally: Tally, audited: ReturnType<typeof auditFile>) => void

/** @param args of the program, after the file */
export function measured<Said>(
  program: string,
  args: (setting: Setting) => readonly (number | string)[],
  check: Check<Said>,
  nodeOptions: readonly string[] = [],
): Scenario {
  return async (setting) => {
    const tally = new Tally()
    const file = join(setting.folder, 'jobs.db')
    const url = new URL(`./programs/${program}.ts`, import.meta.url)
    await using child = new Child(url, [file, ...args(setting).map(String)], { nodeOptions })
    const { code, signal, stderr } = await child.ended
    const said = child.value<Said & Measured>(program)
    if (code !== 0 || said === undefined) {
      tally.violations.push(`${program}: ended with ${code ?? signal}: ${stderr.slice(0, 1_000)}`)
      return tally
    }
    tally.cycles++
    const audited = auditFile(file)
    for (const problem of audited.problems) tally.violations.push(`7: ${problem}`)
    check(said, tally, audited)
    const { baseMib, peakMib } = said.memory
    tally.facts.push(`memory ${Math.round(baseMib)} MiB before, ${Math.round(peakMib)} MiB at most`)
    return tally
  }
}

/** What the process may have beyond what it had before the work. */
export function expectPeak(tally: Tally, { baseMib, peakMib }: MemoryReport, boundMib: number): void {
  const more = Math.round(peakMib - baseMib)
  tally.expect(more <= boundMib, '30', `${more} MiB more at most than before the work; the bound is ${boundMib}`)
}

/** How much the second half may add, whatever the amount of work. */
export function expectFlat(
  tally: Tally,
  what: string,
  { samples }: MemoryReport,
  read: (sample: Sample) => number,
  boundMib: number,
): void {
  const growth = growthOfSecondHalf(samples, read)
  tally.expect(growth <= boundMib, '30', `${what} has grown by ${growth.toFixed(1)} MiB in the second half; the bound is ${boundMib}`)
  tally.facts.push(`${what} ${growth.toFixed(1)} MiB more in the second half`)
}
