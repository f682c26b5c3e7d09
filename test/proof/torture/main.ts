/**
 * The long form: `node test/proof/torture/main.ts [--minutes N] [--only NAME] [--seed S] [--soak JOBS]` runs every scenario in turn, each round
 * with seeds of its own, until the time is over; prints totals, and ends with 1 where a promise was broken, saying how to see it again.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildAll, useBuilt } from '../../built.ts'
import * as overload from '../../overload/scenarios.ts'
import { type Outcome, type Scenario, Tally } from './scenario.ts'
import { clockJumps } from './scenarios/clock.ts'
import { fullDisk } from './scenarios/disk.ts'
import { ownerKills, threadKills } from './scenarios/kills.ts'
import { descriptorsToBackUp, descriptorsToList, descriptorsToOpen, writeErrors } from './scenarios/limits.ts'
import { lostFiles } from './scenarios/lostFile.ts'
import { takeOvers } from './scenarios/owners.ts'
import { stoppedOwner, unreadHeartbeats } from './scenarios/pauses.ts'
import { serverKills } from './scenarios/remote.ts'
import { sharedOwnerKills } from './scenarios/share.ts'
import { soak } from './scenarios/soak.ts'
import { walStarvation } from './scenarios/wal.ts'

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ownerKills,
  threadKills,
  takeOvers,
  serverKills,
  sharedOwnerKills,
  fullDisk,
  writeErrors,
  descriptorsToOpen,
  descriptorsToBackUp,
  descriptorsToList,
  stoppedOwner,
  unreadHeartbeats,
  clockJumps,
  walStarvation,
  ...lostFiles,
  soak,
  ...overload,
}
const MINUTES = 60
const SOAK_JOBS = 1_000_000
/** A round that takes longer hangs. */
const ROUND_MS = 15 * 60_000

const say = (line: string) => process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, only: { type: 'string' }, seed: { type: 'string' }, soak: { type: 'string' } },
})
const minutes = Number(values.minutes ?? MINUTES)
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const soakJobs = Number(values.soak ?? SOAK_JOBS)
const chosen = Object.entries(SCENARIOS).filter(([name]) => values.only === undefined || name === values.only)
if (chosen.length === 0 || !(minutes > 0) || !Number.isInteger(firstSeed) || !(soakJobs > 0)) {
  say(
    `usage: node test/proof/torture/main.ts [--minutes N] [--only NAME] [--seed S] [--soak JOBS]\nnames: ${Object.keys(SCENARIOS).join(', ')}`,
  )
  process.exit(2)
}

useBuilt()
await buildAll()
// So that no program goes on.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

async function hanging(): Promise<never> {
  await delay(ROUND_MS, undefined, { ref: false })
  throw new Error(`it has not come to its end within ${ROUND_MS} ms`)
}

/** A round of one scenario, in a folder that is kept where something is broken. */
async function round(name: string, scenario: Scenario, seed: number): Promise<Outcome> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `millrace-${name}-`)))
  let outcome: Outcome
  try {
    outcome = await Promise.race([scenario({ seed, folder, size: 'long', soakJobs }), hanging()])
  } catch (error) {
    // The scenario itself could not go on: that is told as what it may well be.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    outcome = { cycles: 0, kills: 0, acknowledged: 0, lost: 0, facts: [], violations: [`the scenario has thrown: ${text}`] }
  }
  if (outcome.violations.length === 0) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  else say(`VIOLATED ${name}, files in ${folder}; again with: node test/proof/torture/main.ts --minutes 1 --only ${name} --seed ${seed}`)
  return outcome
}

const totals = new Tally()
const skipped = new Set<string>()
const until = performance.now() + minutes * 60_000
const startMono = performance.now()
let rounds = 0
for (let seed = firstSeed; performance.now() < until; seed++) {
  for (const [name, scenario] of chosen) {
    if (performance.now() >= until || skipped.has(name)) continue
    const began = performance.now()
    const outcome = await round(name, scenario, seed)
    if (outcome.skipped !== undefined) {
      skipped.add(name)
      say(`skipped: ${name}: ${outcome.skipped}`)
      continue
    }
    rounds++
    totals.add(outcome)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    say(
      `${name}, seed ${seed}, ${seconds} s: ${outcome.cycles} cycles, ${outcome.kills} kills, ${outcome.acknowledged} acknowledged, ${outcome.lost} lost; ${outcome.facts.join('; ')}`,
    )
    for (const violation of outcome.violations) say(`  ${violation}`)
  }
  if (skipped.size === chosen.length) break
}
say(
  `${rounds} rounds, ${totals.cycles} cycles, ${totals.kills} kills, ${totals.acknowledged} acknowledged, ${totals.lost} lost, ${totals.violations.length} violations in ${((performance.now() - startMono) / 60_000).toFixed(1)} minutes; first seed ${firstSeed}${skipped.size > 0 ? `; skipped: ${[...skipped].join(', ')}` : ''}`,
)
process.exit(totals.violations.length > 0 ? 1 : 0)
