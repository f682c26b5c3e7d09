/** The demo as a function: its arguments, and the process that it runs in. */
import { type Dashboard, serveDashboard } from './dashboard.ts'
import { explain } from './explain.ts'
import { forPeople } from './filePath.ts'
import { findFolder } from './folder.ts'
import { interruptOf, type Signals } from './interrupt.ts'
import { count } from './numbers.ts'
import { HELP, readOptions } from './options.ts'
import { printReport } from './printReport.ts'
import { createProgress } from './progress.ts'
import { placeQueueFile, removeQueueFile } from './queueFile.ts'
import { makeReport } from './report.ts'
import { openRun, type Run, workOff } from './run.ts'

/** The process that the demo runs in: `process`, or an object that stands for one. */
export interface Host extends Signals {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  cwd(): string
}

/** Runs the command, and returns its exit code. */
export async function demo(args: readonly string[], host: Host): Promise<number> {
  try {
    await main(args, host)
    return 0
  } catch (error) {
    return explain(error, host.stderr)
  }
}

async function main(args: readonly string[], host: Host): Promise<void> {
  const { stdout, stderr } = host
  const options = readOptions(args)
  if (options.help) {
    stdout.write(`${HELP}\n`)
    return
  }
  const folder = await findFolder(options.folder, host.cwd())
  const file = await placeQueueFile(options.file, folder, host.cwd())
  using interrupt = interruptOf(host, `stopped: what is done is kept in ${file}; run the same command again to continue`)

  const run = await openRun(folder, file)
  let dashboard: Dashboard | undefined
  let report: string
  try {
    greet(run, folder, file, stderr)
    if (options.dashboard) dashboard = await openDashboard(run, stderr)
    report = await workAndReport(run, folder, file, interrupt.signal, stderr)
  } finally {
    dashboard?.close()
    await run.engine.stop({ timeout: '1s' })
  }
  stdout.write(`${report}\n`)
  await removeQueueFile(file)
  stderr.write('\nThe run is complete and its queue file removed: the same command now starts from scratch.\n')
}

function greet({ doneBefore }: Run, folder: string, file: string, stderr: NodeJS.WriteStream): void {
  const doing = doneBefore === undefined ? 'Looking for duplicates in' : `Continuing after ${count(doneBefore)} jobs that are done, in`
  stderr.write(`${doing} ${forPeople(folder)} (the queue is ${file})\n`)
}

/** A run needs no dashboard: if it cannot be served, one line says why. */
async function openDashboard({ engine }: Run, stderr: NodeJS.WriteStream): Promise<Dashboard | undefined> {
  try {
    const dashboard = await serveDashboard(engine)
    stderr.write(`Open ${dashboard.url} in a browser to watch it while it runs. There is no log-in: only this machine can reach it.\n`)
    return dashboard
  } catch (error) {
    stderr.write(`The dashboard cannot be served: ${(error as Error).message}. The run continues without it.\n`)
    return undefined
  }
}

async function workAndReport(run: Run, folder: string, file: string, signal: AbortSignal, stderr: NodeJS.WriteStream): Promise<string> {
  const progress = createProgress(stderr)
  try {
    const session = await workOff(run, file, signal, (snapshot) => progress.show(snapshot))
    return printReport(await makeReport(run.engine, folder, signal), session)
  } finally {
    progress.stop()
  }
}
