/** A scenario as a test of a few seconds. */
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import type { Scenario } from './scenario.ts'

const SEED = Number(process.env['SEED'] ?? 1)

/** @param title names the promise that is held against it */
export function slice(title: string, scenario: Scenario, { soakJobs = 200_000 } = {}): void {
  test(title, { timeout: 120_000 }, async ({ skip }) => {
    const outcome = await scenario({ seed: SEED, folder: temporaryFolder(), size: 'slice', soakJobs })
    if (outcome.skipped !== undefined) skip(`not on this machine: ${outcome.skipped}`)
    const { cycles, kills, acknowledged, lost, violations, facts } = outcome
    process.stdout.write(`${title}\n  ${cycles} cycles, ${kills} kills, ${acknowledged} acknowledged, ${lost} lost; ${facts.join('; ')}\n`)
    expect(violations).toEqual([])
    expect(lost).toBe(0)
    expect(acknowledged).toBeGreaterThan(0)
  })
}
