/** Beanstalkd with its log: synced on each write (`full`), or every 50 ms as it is by default (`normal`). */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { endProgram, findProgram, freePort, startProgram, versionOf } from './program.ts'
import type { ServerKind } from './server.ts'

const PROGRAM = 'beanstalkd'

export const beanstalkdServer: ServerKind = {
  name: PROGRAM,
  missing: () => (findProgram(PROGRAM) === undefined ? `${PROGRAM} is not on PATH` : undefined),
  version: () => versionOf(PROGRAM, '-v'),
  start: async (folder, durability) => {
    const log = join(folder, 'binlog')
    mkdirSync(log)
    const port = await freePort()
    const sync = durability === 'full' ? ['-f', '0'] : ['-f', '50']
    const child = await startProgram(PROGRAM, ['-l', '127.0.0.1', '-p', String(port), '-b', log, ...sync], port)
    return { address: `127.0.0.1:${port}`, stop: () => endProgram(child) }
  },
}
