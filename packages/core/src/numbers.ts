/**
 * Numbers in JSON that others have written: JavaScript has doubles alone, so a handler, a list or a result in it would see another number.
 * They are refused where they come in, as over HTTP and on the command line.
 */
import type { CheckedForward, NewJob } from './commands.ts'
import type { Data } from './job.ts'
import { type Command, traitsOf } from './operations.ts'
import { checkJsonNumbers } from './options/jsonText.ts'
import type { Refusal } from './refusal.ts'
import { refusalFrom } from './refusal.ts'
import { withUnfit } from './unfit.ts'

/** Returns the refusal of a command with such a number in a payload or a meta. `forward` has each of its entries refused alone. */
export function changedNumber(command: Command): Refusal | undefined {
  if (command.op === 'forward') return undefined
  const { newJobs, payloads = [] } = traitsOf(command.op)
  return refusalOf(() => {
    check('meta', metaOf(command))
    for (const [what, payloadOf] of payloads) check(what, payloadOf(command))
    if (newJobs !== undefined) checkJobs(newJobs(command))
  })
}

/** Returns the meta that a command says beside those of its new jobs. */
function metaOf(command: Command): string | undefined {
  if (command.op === 'triggerSchedule') return command.meta
  return 'changes' in command && command.changes !== undefined && 'meta' in command.changes ? command.changes.meta : undefined
}

/** Returns the command with the entries that have such a number, beside those that are known to be unfit. */
export function withChangedNumbers(command: CheckedForward): CheckedForward {
  return withUnfit(command, (jobs) => refusalOf(() => checkJobs(jobs)))
}

function checkJobs(jobs: readonly NewJob[]): void {
  for (const { data, meta } of jobs) {
    check('data', data)
    check('meta', meta)
  }
}

function check(option: string, text: Data | undefined): void {
  if (typeof text === 'string') checkJsonNumbers(option, text)
}

function refusalOf(checks: () => void): Refusal | undefined {
  try {
    checks()
    return undefined
  } catch (error) {
    return refusalFrom(error)
  }
}
