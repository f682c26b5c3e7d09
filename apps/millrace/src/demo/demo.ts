/** The demo: a daemon in a temporary folder, which only this machine reaches, with a shop that keeps it busy. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@millrace/core'
import { AddressInUseError } from '@millrace/remote'
import { now, pause } from '../cli/clock.ts'
import { SCHEMA } from '../config/schema/schema.ts'
import { type Daemon, type ServeOptions, serve } from '../serve/serve.ts'
import { keepBusy, openShop, SAMPLES } from './shop.ts'

export interface DemoOptions extends Required<Pick<ServeOptions, 'dashboard'>> {
  /** The port of HTTP; undefined for `PORT`, or a free one if that is taken. */
  readonly port: number | undefined
  readonly seed: number
  readonly rate: number
  readonly logger: Logger
}

export interface Demo {
  readonly url: string
  readonly file: string
  /** Resolves when the daemon should end. */
  readonly ending: Promise<unknown>
  /** Stops everything and removes the folder. */
  close(): Promise<void>
}

/** The port that the demo prefers: not that of a daemon, which may run beside it. */
const PORT = 7411

export async function startDemo({ port, seed, rate, logger, dashboard }: DemoOptions): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const file = join(folder, 'demo.db')
  const ended = new AbortController()
  let daemon: Daemon | undefined
  try {
    daemon = await serveAt(port, (at) => serve(configOf(file, at), { logger, cwd: folder, dashboard, open: { samples: SAMPLES } }))
    const shop = { seed, rate, signal: ended.signal, now, pause }
    await openShop(daemon.engine, shop)
    const { url, ending, engine, close } = daemon
    const busy = keepBusy(engine, shop)
    return {
      url: url as string,
      file,
      ending: Promise.race([ending, busy]),
      async close() {
        ended.abort()
        await Promise.allSettled([busy, close()])
        remove()
      },
    }
  } catch (error) {
    await daemon?.close()
    remove()
    throw error
  }
}

async function serveAt(port: number | undefined, start: (port: number) => Promise<Daemon>): Promise<Daemon> {
  if (port !== undefined) return start(port)
  try {
    return await start(PORT)
  } catch (error) {
    if (error instanceof AddressInUseError) return start(0)
    throw error
  }
}

function configOf(file: string, port: number) {
  return SCHEMA.parse({
    file,
    // Nothing of it is kept, and a sync per commit would be most of the work.
    durability: 'normal',
    listen: [],
    retention: { completed: { age: '1h', count: 20_000 }, failed: '1h', cancelled: '1h' },
    http: { port, instance: { name: 'demo', colour: 'purple' } },
    shutdown: { timeout: '1s' },
  })
}
