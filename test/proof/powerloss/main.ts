/**
 * Power loss and I/O faults, for as long as it is told to: `node test/proof/powerloss/main.ts --images 100000 --minutes 10 --seed 1`. Each
 * seed is recorded and replayed whole; the first has its matrices of faults and crashes whole where there is time for them, every
 * other a share of them. Without `--seed` the first is drawn at random, and printed.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Campaign, FaultProgram, memoryFolder } from './campaign.ts'
import { type Crash, compileExtension, type Fault } from './extension.ts'
import { type Durability, RECORDED_STEPS } from './recording.ts'
import { ALL_HARMS, isHarm } from './rescue.ts'

/** Faults of each kind, and crashes, of every seed but the first. */
const SHARE = 20

const { values } = parseArgs({
  options: {
    /** At least so many, where there is time for them. */
    images: { type: 'string' },
    /** At most; where neither is given, 20,000 images within 5 minutes. */
    minutes: { type: 'string' },
    seed: { type: 'string' },
    /** Power cuts alone, no failing operations and no deaths: for a run of a minute. */
    cuts: { type: 'boolean', default: false },
    /** One thing again, as a violation names it: `full`, `write:full:once:30`, `crash:half:12` or `the log is deleted`. */
    again: { type: 'string' },
    /** With `--again full` or `normal`. */
    cut: { type: 'string' },
    kind: { type: 'string' },
  },
})
const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * 1e6))
const minutesMax = Number(values.minutes ?? (values.images === undefined ? 5 : Number.POSITIVE_INFINITY))
const imagesMax = Number(values.images ?? (values.minutes === undefined ? 20_000 : Number.POSITIVE_INFINITY))
const print = (line: string) => void process.stdout.write(`${line}\n`)

const folder = memoryFolder()
try {
  const extension = compileExtension(folder)
  if (typeof extension === 'string') print(`nothing was done: ${extension}`)
  else {
    const startedMs = performance.now()
    const over = () => performance.now() - startedMs > minutesMax * 60_000
    const campaign = new Campaign(extension, folder, over)
    if (values.again === undefined) await many(campaign, over)
    else await again(campaign, extension.path, values.again)
    report(campaign, (performance.now() - startedMs) / 1_000)
    process.exitCode = campaign.violations.length > 0 ? 1 : 0
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function many(campaign: Campaign, over: () => boolean): Promise<void> {
  for (let round = 0; !over() && campaign.images < imagesMax; round++) {
    const current = seed + round
    const startedMs = performance.now()
    const before = campaign.images
    for (const durability of ['full', 'normal'] as const) {
      await campaign.replay(campaign.record({ seed: current, durability, steps: RECORDED_STEPS }), { rule: durability })
    }
    const images = campaign.images - before
    const perSecond = Math.round((images * 1_000) / (performance.now() - startedMs))
    if (round === 0 && !over()) await detectors(campaign, over)
    if (!values.cuts) {
      await campaign.failEach(current, round === 0 ? undefined : SHARE)
      await campaign.crashEach(current, round === 0 ? undefined : SHARE)
      for (const harm of ALL_HARMS) if (!over()) await campaign.rescue(current, harm, { cutsMax: SHARE })
    }
    print(`seed ${current}: ${images} images replayed, ${perSecond} a second; ${campaign.violations.length} violations so far`)
  }
}

/** What is not seen where it must be is a violation too. */
async function detectors(campaign: Campaign, over: () => boolean): Promise<void> {
  for (const [durability, ignoreSyncs] of [
    ['normal', false],
    ['off', false],
    ['full', true],
  ] as const) {
    const recording = campaign.record({ seed, durability, steps: RECORDED_STEPS })
    const options = { rule: 'full', imagesMax: 1_000, ignoreSyncs } as const
    const { images, lost, corrupt } = await campaign.replay(recording, options, { expected: true })
    // Cut short by the time, it says nothing.
    if (over()) return
    const what = `a run at ${durability}${ignoreSyncs ? ' on a disk that lies about its syncs' : ''}, judged as one at full`
    print(`${what}: ${lost} of ${images} images lost what was answered, ${corrupt} were broken, as they must be`)
    if (lost === 0) campaign.violations.push(`${what}: no loss is seen`)
  }
}

async function again(campaign: Campaign, extension: string, what: string): Promise<void> {
  const [first, second, third, at] = what.split(':') as [string, string, string, string]
  if (first === 'full' || first === 'normal') {
    const recording = campaign.record({ seed, durability: first as Durability, steps: RECORDED_STEPS })
    const only = values.cut === undefined ? {} : { only: { cut: Number(values.cut), kind: values.kind ?? 'all' } }
    await campaign.replay(recording, { rule: first, ...only })
  } else if (isHarm(what)) {
    await campaign.rescue(seed, what)
  } else if (first === 'crash') {
    await campaign.crash(seed, { crash: second as Crash['crash'], at: Number(third) })
  } else {
    const program = new FaultProgram([extension, join(folder, 'faults')])
    const fault = { fail: first, error: second, sticky: third === 'sticky', at: Number(at) } as Fault
    await campaign.fail(program, { seed, fault }, what)
    await program.end()
  }
}

function report({ runs, cutPoints, images, engines, crashes, doubts, faults, lost, corrupt, violations }: Campaign, seconds: number): void {
  const kinds = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`)
  print(`${runs} runs, ${cutPoints} cut points, ${images} images (${engines} opened by the engine), ${crashes} crashes`)
  print(`faults met: ${kinds.join(', ') || 'none'}; ${doubts} commits in doubt`)
  print(`${lost} lost, ${corrupt} corrupt, in ${Math.round(seconds)} s; first seed ${seed}`)
  for (const violation of violations.slice(0, 50)) print(violation)
}
