/** An engine under a virtual clock that other Ports reach through real sockets: time is the test's, bytes take the way they take. */

import { join } from 'node:path'
import { systemCalendar } from '@millrace/client/calendar'
import { DEFAULT_RETENTION } from '@millrace/core'
import type { Settings } from '@millrace/core/kernel'
import { InThreadEngine } from '@millrace/engine/internal'
import { type ConnectOptions, type ListenOptions, listen, type RemoteServer } from '@millrace/remote'
import { connectPort, type RemotePort } from '@millrace/remote/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { Probe, seededRandom } from '@millrace/testkit/internal'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

export interface ServedOptions {
  readonly file?: string
  /** Default a Unix socket in a folder of its own. */
  readonly url?: string
  readonly listen?: ListenOptions
  readonly settings?: Partial<Settings>
  readonly clock?: VirtualClock
  /** Gets the sessions of clients whose process has died. */
  readonly declareDead?: (sessions: readonly string[]) => void
}

export interface Served {
  readonly clock: VirtualClock
  readonly engine: InThreadEngine
  readonly server: RemoteServer
  readonly url: string
  port(options?: ConnectOptions, url?: string): Promise<RemotePort>
  /** A port, with what it says kept until the test asks for it. */
  probe(options?: ConnectOptions, url?: string): Promise<Probe>
  close(): Promise<void>
}

export async function serve({
  file = ':memory:',
  url,
  listen: options,
  settings,
  clock = new VirtualClock(),
  declareDead = () => {},
}: ServedOptions = {}): Promise<Served> {
  const random = seededRandom(1)
  const store = openStore({ file, durability: 'full', random, now: clock.read().wall, host: 'host', pid: 1 })
  const engine = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar, ...settings },
  })
  const where = url ?? `unix:${join(temporaryFolder(), 'sock')}`
  const server = await listen({ openPort: () => engine.port(), declareDead }, where, options, { clock, random })
  const ports: RemotePort[] = []
  const port = async (given?: ConnectOptions, to = server.url) => {
    const opened = await connectPort(to, given, { clock, random })
    ports.push(opened)
    return opened
  }
  const close = async () => {
    await Promise.all(ports.splice(0).map((opened) => opened.close()))
    await server.close()
    engine.close()
  }
  onTestFinished(close)
  return { clock, engine, server, url: server.url, port, probe: async (given, to) => new Probe(await port(given, to)), close }
}
