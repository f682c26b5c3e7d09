/** The thread that offers the load while its host is idle: attaches to the engine of the process. */
import { type MessagePort, workerData } from 'node:worker_threads'
import { attach } from '@millrace/engine'
import { offerLoad } from './load.ts'
import type { Settings } from './measurement.ts'

const { port, ...settings } = workerData as { readonly port: MessagePort } & Pick<Settings, 'jobs' | 'inFlight' | 'concurrency'>
const engine = attach(port)
await offerLoad(engine, settings)
await engine.stop()
