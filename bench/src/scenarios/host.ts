/**
 * How late the event loop of the process that embeds the engine is: with nothing to do (`none`), while it enqueues and handles flat
 * out itself (`host`), and while another thread does, through `engine.port()` and `attach` (`thread`).
 */
import { once } from 'node:events'
import { type MessagePort, Worker } from 'node:worker_threads'
import { type Engine, openEngine } from '@millrace/engine'
import { checkCompleted } from '../check.ts'
import { startLagProbe } from '../lag.ts'
import { offerLoad } from '../load.ts'
import type { Scenario, Settings } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { endOf } from './end.ts'

const QUIET_MS = 2_000

export const host: Scenario = async (settings) => {
  const { file, durability, jobs, load } = settings
  if (load === 'none') return quiet()
  const engine = await openEngine({ file, durability })
  const stopProbe = startLagProbe()
  const stop = startMeter()
  await (load === 'host' ? offerLoad(engine, settings) : offerFromThread(engine, settings))
  const { jobsPerSecond = 0, mainUtilization = 0 } = stop(jobs)
  const delays = stopProbe()
  const { turns = 0 } = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  return { ...delays, jobsPerSecond, mainUtilization, turns }
}

async function quiet() {
  const stop = startLagProbe()
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
  return stop()
}

async function offerFromThread(engine: Engine, { jobs, inFlight, concurrency }: Settings): Promise<void> {
  const port = engine.port() as MessagePort
  const workerData = { port, jobs, inFlight, concurrency }
  const thread = new Worker(new URL('../loadThread.ts', import.meta.url), { workerData, transferList: [port] })
  const [code] = (await once(thread, 'exit')) as [number]
  if (code !== 0) throw new Error(`the thread that offers the load ended with ${code}`)
}
