/** Takes one experiment through its repetitions: cells take turns, each run in a fresh process and a fresh folder, medians at the end. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Backlogs } from './backlogs.ts'
import type { Cell, Experiment } from './experiments/experiment.ts'
import { formatFigure } from './figures.ts'
import type { Figures, Settings } from './measurement.ts'
import type { Plan } from './plan.ts'
import { median } from './quantile.ts'
import type { Omission, Row } from './result.ts'
import { runProcess } from './runProcess.ts'
import { checkSyncs } from './syncs.ts'

const SYNC_IN_FLIGHT = 10

export interface Conducted {
  readonly rows: readonly Row[]
  readonly failed: readonly Omission[]
}

export interface Place {
  /** For the files of the runs. */
  readonly folder: string
  /** Why syncs cannot be counted; undefined where they can. */
  readonly noSyncs: string | undefined
  say(line: string): void
}

interface Measured {
  readonly cell: Cell
  readonly runs: Figures[]
  readonly checks: Set<string>
  failure: string | undefined
}

export async function conduct(experiment: Experiment, plan: Plan, place: Place): Promise<Conducted> {
  const rows: Row[] = []
  const failed: Omission[] = []
  for (const group of experiment.groups(plan)) {
    const measured = group.map((cell): Measured => ({ cell, runs: [], checks: new Set(), failure: undefined }))
    await measureGroup(experiment, measured, plan, place)
    const whole = measured.filter(({ failure, cell: { subject, label } }) => {
      if (failure !== undefined) failed.push({ subject, experiment: experiment.name, reason: `${label}: ${failure}` })
      return failure === undefined
    })
    for (const one of whole) rows.push(rowOf(experiment, one, whole))
  }
  return { rows, failed }
}

async function measureGroup(experiment: Experiment, group: readonly Measured[], plan: Plan, place: Place): Promise<void> {
  const backlogs = new Backlogs(place.folder)
  try {
    const repetitions = experiment.once ? 1 : plan.repetitions
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      for (const one of group) {
        if (one.failure !== undefined) continue
        await attempt(one, experiment, place, `${repetition}/${repetitions}`, async () => {
          const figures = await withFile(place, backlogs, one.cell.settings, (settings) =>
            runProcess(one.cell.scenario, settings, { passOn: one.cell.scenario === 'sustained' }),
          )
          one.runs.push(figures)
          return `${formatFigure(experiment.headline, figures[experiment.headline])} ${experiment.headline}`
        })
      }
    }
    for (const one of group) if (one.failure === undefined) await check(experiment, one, plan, place, backlogs)
  } finally {
    backlogs.clear()
  }
}

async function check(experiment: Experiment, one: Measured, plan: Plan, place: Place, backlogs: Backlogs): Promise<void> {
  const { subject, scenario, settings } = one.cell
  if (subject !== 'millrace') return
  one.checks.add('every job looked at in the file opened again, journal counted, integrity_check ok')
  if (settings.durability !== 'full' || scenario === 'sustained') return
  if (place.noSyncs !== undefined) {
    one.checks.add(`syncs not counted: ${place.noSyncs}`)
    return
  }
  const small = settingsOfSyncRun(settings, plan)
  await attempt(one, experiment, place, 'syncs', async () => {
    const counted = await withFile(place, backlogs, small, (all) => checkSyncs(scenario, all))
    one.checks.add(`${counted} (strace, ${small.jobs.toLocaleString('en')} jobs, ${small.inFlight} in flight)`)
    return counted
  })
}

/** Few at a time, so that there are many turns: the syncs of opening and closing the file must not be mistaken for theirs. */
function settingsOfSyncRun(
  settings: Partial<Settings>,
  { syncJobs }: Plan,
): Partial<Settings> & { readonly jobs: number; readonly inFlight: number } {
  const { jobs = syncJobs, inFlight = SYNC_IN_FLIGHT, concurrency = SYNC_IN_FLIGHT, backlog } = settings
  const few = Math.min(jobs, syncJobs)
  return {
    ...settings,
    jobs: few,
    inFlight: Math.min(inFlight, SYNC_IN_FLIGHT),
    concurrency: Math.min(concurrency, SYNC_IN_FLIGHT),
    lot: SYNC_IN_FLIGHT,
    backlogJobs: backlog === 'own' ? few : 0,
  }
}

async function attempt(one: Measured, experiment: Experiment, place: Place, step: string, work: () => Promise<string>): Promise<void> {
  const name = `${experiment.name}: ${one.cell.subject}, ${one.cell.label} (${step})`
  try {
    place.say(`${name}: ${await work()}`)
  } catch (error) {
    one.failure = error instanceof Error ? error.message : String(error)
    place.say(`${name}: FAILED: ${one.failure}`)
  }
}

let runs = 0

/** A folder of its own for a run, with the backlog that it begins with. */
export async function withFile<T>(
  { folder }: Pick<Place, 'folder'>,
  backlogs: Backlogs,
  settings: Partial<Settings>,
  work: (settings: Partial<Settings> & { readonly file: string }) => Promise<T>,
): Promise<T> {
  const own = join(folder, `run-${runs++}`)
  mkdirSync(own)
  try {
    const file = join(own, 'jobs.db')
    await backlogs.lay(settings, file)
    return await work({ ...settings, file })
  } finally {
    rmSync(own, { recursive: true, force: true, maxRetries: 3 })
  }
}

function rowOf({ name, headline }: Experiment, { cell, runs, checks }: Measured, group: readonly Measured[]): Row {
  const { subject, label, settings, against, note } = cell
  const names = [...new Set(runs.flatMap((figures) => Object.keys(figures)))]
  const figures = Object.fromEntries(names.map((figure) => [figure, median(valuesOf(runs, figure))]))
  const mine = valuesOf(runs, headline)
  const other = group.find((one) => one.cell.subject === against?.subject && one.cell.label === against.label)
  const ratio = other === undefined ? undefined : median(mine) / median(valuesOf(other.runs, headline))
  return {
    experiment: name,
    subject,
    label,
    settings,
    ...(note !== undefined && { note }),
    figures,
    ...(ratio !== undefined && { ratio }),
    spread: mine.length === 0 ? 0 : (Math.max(...mine) - Math.min(...mine)) / median(mine),
    runs,
    checks: [...checks],
  }
}

function valuesOf(runs: readonly Figures[], figure: string): number[] {
  return runs.flatMap((figures) => figures[figure] ?? [])
}
