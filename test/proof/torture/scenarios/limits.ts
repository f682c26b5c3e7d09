/** The system gives no more: files may not grow (write errors), or no further one may be opened. */
import { join } from 'node:path'
import { Child } from '../child.ts'
import { ulimit } from '../machine.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const LOAD = new URL('../programs/load.ts', import.meta.url)
const FEW_DESCRIPTORS = new URL('../programs/fewDescriptors.ts', import.meta.url)
const WRITE_REFUSALS = ['COMMIT_UNKNOWN', 'STORAGE', 'DISK_FULL', 'ENGINE_FAILED', 'ENGINE_STOPPED']

/** `ulimit -f`, with enqueues, runs and completions all under way; then the limit is gone and all is done. */
export const writeErrors: Scenario = async ({ folder, size }) => {
  const tally = new Tally()
  const cycles = size === 'slice' ? 2 : 8
  for (let cycle = 0; cycle < cycles; cycle++) {
    const settings: LoadSettings = { file: join(folder, `${cycle}.db`), effects: join(folder, 'none'), bytes: 5_000, refusalsMax: 40 }
    const witness = new Witness()
    await using limited = new Child(LOAD, [JSON.stringify(settings)], { within: ulimit(`-f ${6_000 + 1_500 * cycle}`) })
    const { code, signal, stderr } = await limited.ended
    tally.expect(code === 0, 'F6', `under a limit of file sizes the program ended with ${code ?? signal}: ${stderr}`)
    witness.take(limited.lines)
    tally.expect(witness.refusals.size > 0, 'the test', 'the limit was never met')
    for (const refusal of witness.refusals.keys()) tally.expect(WRITE_REFUSALS.includes(refusal), 'typed errors', refusal)
    await using last = new Child(LOAD, [JSON.stringify({ ...settings, drain: true, refusalsMax: undefined })])
    const { code: lastCode, stderr: lastStderr } = await last.ended
    tally.expect(lastCode === 0, '20', `without the limit it cannot be opened and done: ${lastStderr}`)
    witness.take(last.lines)
    tally.expect(last.lines.includes('remainder 0'), '4', 'a batch is there in part')
    witness.audit(settings.file, tally, { drained: true })
    tally.cycles++
    tally.acknowledged += witness.acknowledged
    tally.facts.push([...witness.refusals].map(([refusal, times]) => `${times} ${refusal}`).join(', '))
  }
  return tally
}

/** `ulimit -n`: too many open files. */
function withoutDescriptors(what: 'open' | 'backup' | 'list'): Scenario {
  return async ({ folder }) => {
    const tally = new Tally()
    const witness = new Witness()
    await using child = new Child(FEW_DESCRIPTORS, [folder, what], { within: ulimit('-n 160') })
    const { code, signal, stderr } = await child.ended
    const at = child.lines.at(-1)
    tally.expect(code === 0, 'F8', `too many open files ended the host with ${code ?? signal}, after '${at}': ${stderr.slice(0, 400)}`)
    witness.take(child.lines)
    for (const line of child.lines.filter((said) => said.includes(' !'))) tally.violations.push(`typed errors: ${line}`)
    tally.expect(!child.lines.includes('left behind true'), 'backup', 'a backup that failed has left its part behind')
    tally.expect(what === 'open' || child.lines.includes('again: done'), 'recovery', `with descriptors again: no ${what}`)
    tally.expect(
      child.lines.some((line) => /^without.*[A-Z_]{5,}$/.test(line)),
      'the test',
      'the limit was never met',
    )
    tally.cycles++
    tally.acknowledged = witness.acknowledged
    witness.audit(join(folder, 'jobs.db'), tally, { drained: false })
    tally.facts.push(child.lines.filter((line) => /^(without|again)/.test(line)).join(', '))
    return tally
  }
}

export const descriptorsToOpen = withoutDescriptors('open')
export const descriptorsToBackUp = withoutDescriptors('backup')
export const descriptorsToList = withoutDescriptors('list')
