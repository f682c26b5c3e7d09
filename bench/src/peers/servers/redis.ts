/** Redis with an append-only file: synced on every write (`full`), or once a second (`normal`). */
import { endProgram, findProgram, freePort, startProgram, versionOf } from './program.ts'
import type { ServerKind } from './server.ts'

const PROGRAM = 'redis-server'

export const redis: ServerKind = {
  name: PROGRAM,
  missing: () => (findProgram(PROGRAM) === undefined ? `${PROGRAM} is not on PATH` : undefined),
  version: () => versionOf(PROGRAM, '--version'),
  start: async (folder, durability) => {
    const port = await freePort()
    const fsync = durability === 'full' ? 'always' : 'everysec'
    const settings = {
      port,
      bind: '127.0.0.1',
      dir: folder,
      appendonly: 'yes',
      appendfsync: fsync,
      save: '',
      'maxmemory-policy': 'noeviction',
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    const child = await startProgram(PROGRAM, args, port)
    return { address: `127.0.0.1:${port}`, stop: () => endProgram(child) }
  },
}
