// A working engine keeps its process alive, an idle one does not; nobody has to call stop.
import { openEngine } from '@millrace/engine'
import { describe, expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile } from '../temporary.ts'

const ALIVE = new URL('./programs/alive.ts', import.meta.url)

async function runScenario(scenario: string) {
  const file = temporaryFile()
  const program = startProgram(ALIVE, [scenario, file])
  const { code, stderr } = await program.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // The file is whole, and nobody's.
  await (await openEngine({ file })).stop()
  return program.lines
}

describe('an idle engine lets its process end', () => {
  test.each([
    ['nothing', []],
    ['enqueued', []],
    ['asked', ['waiting 1 1']],
    ['listening', []],
    ['stoppedWorker', ['ran']],
    ['refused', ['JOB_NOT_FOUND']],
    ['brokenCall', ['COMMIT_UNKNOWN']],
    ['brokenAndBack', ['created true']],
    ['unheard', ['created true']],
    ['forgotten', ['open']],
  ])('%s', async (scenario, said) => expect(await runScenario(scenario)).toEqual(said))
})

describe('a working engine keeps it', () => {
  test.each([
    ['worker', ['ran']],
    ['workerAfterDeath', ['ran']],
    ['result', ['RESULT_TIMEOUT']],
    ['openCall', ['enqueued']],
    ['backup', ['copied true']],
    ['stopping', ['stopped']],
  ])('%s', async (scenario, said) => expect(await runScenario(scenario)).toEqual(said))
})
