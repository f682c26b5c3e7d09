// Power loss and I/O faults under the real SQLite, in short; `main.ts` does it for as long as it is told to.
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { Campaign, memoryFolder } from './campaign.ts'
import { compileExtension } from './extension.ts'
import { type Durability, RECORDED_STEPS } from './recording.ts'
import { ALL_HARMS } from './rescue.ts'
import type { Operation } from './trace.ts'

const SEED = Number(process.env['SEED'] ?? 1)

const built = memoryFolder()
const extension = compileExtension(built)
afterAll(() => rmSync(built, { recursive: true }))

function startCampaign(skip: (reason: string) => never): Campaign {
  if (typeof extension === 'string') return skip(`no fault VFS here: ${extension}`)
  const folder = memoryFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return new Campaign(extension, folder)
}

describe('the power fails', () => {
  test('1, 2, 5, 6, 7: under full everything that was answered is there, and nothing is broken', async ({ skip }) => {
    const campaign = startCampaign(skip)
    const { kinds } = await campaign.replay(campaign.record({ seed: SEED, durability: 'full', steps: RECORDED_STEPS }), {
      rule: 'full',
      imagesMax: 2_500,
    })
    expect(campaign.violations).toEqual([])
    // It has been tried in every way.
    expect(Object.keys(kinds)).toEqual(expect.arrayContaining(['all', 'none', 'torn', 'sectors', 'names']))
    expect(campaign.images).toBeGreaterThan(1_000)
  })

  test('4, 7: under normal nothing is broken, and what is there is the beginning of what was answered', async ({ skip }) => {
    const campaign = startCampaign(skip)
    await campaign.replay(campaign.record({ seed: SEED, durability: 'normal', steps: RECORDED_STEPS }), {
      rule: 'normal',
      imagesMax: 1_500,
    })
    expect(campaign.violations).toEqual([])
  })

  test.for<[Durability, boolean, string]>([
    ['normal', false, 'that syncs at checkpoints only'],
    ['off', false, 'that never syncs'],
    ['full', true, 'whose disk lies about its syncs'],
  ])('a run at %s (a lying disk: %s) loses what was answered, and that is seen', async ([durability, ignoreSyncs], { skip }) => {
    const campaign = startCampaign(skip)
    const recording = campaign.record({ seed: SEED, durability, steps: RECORDED_STEPS })
    const { lost, corrupt } = await campaign.replay(recording, { rule: 'full', imagesMax: 250, ignoreSyncs }, { expected: true })
    expect(lost).toBeGreaterThan(10)
    if (durability !== 'normal') expect(corrupt).toBeGreaterThan(10)
  })
})

test('a creation that was cut off, journal and all, is taken up by the next opening', async ({ skip }) => {
  const campaign = startCampaign(skip)
  // Before there is a log: the header is written under SQLite's rollback journal.
  for (let at = 2; at <= 10; at++) await campaign.crash(SEED, { crash: 'before', at })
  expect(campaign.violations).toEqual([])
})

test('5, 6: the storage fails at an operation, once or from then on: what was answered holds, a failed sync is of unknown outcome', async ({
  skip,
}) => {
  const campaign = startCampaign(skip)
  await campaign.failEach(SEED, 8)
  expect(campaign.violations).toEqual([])
  expect(Object.keys(campaign.faults)).toHaveLength(8)
  expect(campaign.doubts).toBeGreaterThan(0)
})

test('1, 2, 7: the process ends at an operation, or in the midst of a write: what was answered holds', async ({ skip }) => {
  const campaign = startCampaign(skip)
  await campaign.crashEach(SEED, 8)
  expect(campaign.violations).toEqual([])
  expect(campaign.crashes).toBeGreaterThan(5)
})

describe('the power fails after the files were taken away', () => {
  test.for(ALL_HARMS)('1, 2, 7: %s: all that was answered is in the file or in the copy, and nothing is broken', async (harm, { skip }) => {
    const campaign = startCampaign(skip)
    const { images } = await campaign.rescue(SEED, harm, { cutsMax: 12 })
    expect(campaign.violations).toEqual([])
    expect(images).toBeGreaterThan(10)
  })

  test.for<[what: string, without: (operation: Operation) => boolean]>([
    [
      'the sync of the log that is named again',
      ({ kind, ...operation }) => kind === 'sync' && 'file' in operation && operation.file === 'log',
    ],
    ['the sync of the folder', ({ kind }) => kind === 'syncFolder'],
  ])('without %s, a loss is seen', async ([, without], { skip }) => {
    const { problems } = await startCampaign(skip).rescue(SEED, 'the log is deleted', { without, cutsMax: 12 })
    expect(problems.join('\n')).toContain('was answered to be')
  })
})
