/** Millrace at work on real files: finds the duplicates under a folder, survives any kill, and reports. */
import { type Dashboard, serveDashboard } from './dashboard.ts'
import { explain } from './explain.ts'
import { forPeople } from './filePath.ts'
import { findFolder } from './folder.ts'
import { interruptSignal } from './interrupt.ts'
import { count } from './numbers.ts'
import { HELP, readOptions } from './options.ts'
import { printReport } from './printReport.ts'
import { createProgress } from './progress.ts'
import { placeQueueFile, removeQueueFile } from './queueFile.ts'
import { makeReport } from './report.ts'
import { openRun, type Run, workOff } from './run.ts'

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options.help) {
    console.log(HELP)
    return
  }
  const folder = await findFolder(options.folder)
  const file = await placeQueueFile(options.file, folder)
  const signal = interruptSignal(`stopped: what is done is kept in ${file}; run the same command again to continue`)

  const run = await openRun(folder, file)
  let dashboard: Dashboard | undefined
  let report: string
  try {
    greet(run, folder, file)
    if (options.dashboard) dashboard = await openDashboard(run)
    report = await workAndReport(run, folder, file, signal)
  } finally {
    dashboard?.close()
    await run.engine.stop({ timeout: '1s' })
  }
  console.log(report)
  await removeQueueFile(file)
  console.error('\nThe run is complete and its queue file removed: the same command now starts from scratch.')
}

function greet({ doneBefore }: Run, folder: string, file: string): void {
  const doing = doneBefore === undefined ? 'Looking for duplicates in' : `Continuing after ${count(doneBefore)} jobs that are done, in`
  console.error(`${doing} ${forPeople(folder)} (the queue is ${file})`)
}

/** A run needs no dashboard: if it cannot be served, one line says why. */
async function openDashboard({ engine }: Run): Promise<Dashboard | undefined> {
  try {
    const dashboard = await serveDashboard(engine)
    console.error(`Open ${dashboard.url} in a browser to watch it while it runs. There is no log-in: only this machine can reach it.`)
    return dashboard
  } catch (error) {
    console.error(`The dashboard cannot be served: ${(error as Error).message}. The run continues without it.`)
    return undefined
  }
}

async function workAndReport(run: Run, folder: string, file: string, signal: AbortSignal): Promise<string> {
  const progress = createProgress(process.stderr)
  try {
    const session = await workOff(run, file, signal, (snapshot) => progress.show(snapshot))
    return printReport(await makeReport(run.engine, folder, signal), session)
  } finally {
    progress.stop()
  }
}

try {
  await main()
} catch (error) {
  process.exitCode = explain(error)
}
