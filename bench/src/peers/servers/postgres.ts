/** Postgres as it is initialised, with room in memory and in its log; every commit is synced. It refuses to run as root, so it runs as `postgres` then. */
import { type SpawnOptions, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { endProgram, findProgram, freePort, startProgram, versionOf } from './program.ts'
import type { ServerKind } from './server.ts'

const PROGRAM = 'postgres'
const USER = 'bench'
const SETTINGS = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
  max_connections: '200',
  synchronous_commit: 'on',
}

export const postgres: ServerKind = {
  name: PROGRAM,
  missing: () => {
    for (const program of [PROGRAM, 'initdb']) if (findProgram(program) === undefined) return `${program} is not on PATH`
    return isRoot() && accountOf(USER_OF_ROOT) === undefined ? `it does not run as root, and there is no user ${USER_OF_ROOT}` : undefined
  },
  version: () => versionOf(PROGRAM, '--version'),
  start: async (folder) => {
    const data = join(folder, 'postgres')
    mkdirSync(data)
    const account = isRoot() ? accountOf(USER_OF_ROOT) : undefined
    if (account !== undefined) for (const path of [dirname(folder), folder, data]) chownSync(path, account.uid, account.gid)
    const as: SpawnOptions = { cwd: data, ...account }
    const initdb = spawnSync('initdb', ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...as, encoding: 'utf8' })
    if (initdb.status !== 0) throw new Error(`initdb ended with ${initdb.status}: ${initdb.stderr}`)
    const port = await freePort()
    // In English, for what says that it is ready.
    const args = ['-D', data, '-c', 'lc_messages=C', '-p', String(port), '-h', '127.0.0.1', '-k', data]
    for (const [name, value] of Object.entries(SETTINGS)) args.push('-c', `${name}=${value}`)
    const child = await startProgram(PROGRAM, args, port, { ...as, ready: /ready to accept connections/ })
    return {
      address: `postgres://${USER}@127.0.0.1:${port}/postgres`, // At first it waits for its clients to be gone, as they are about to.
      stop: () => endProgram(child, 'SIGINT'),
    }
  },
}

export const POSTGRES_SETTINGS = Object.entries(SETTINGS)
  .map(([name, value]) => `${name} ${value}`)
  .join(', ')

const USER_OF_ROOT = 'postgres'

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function accountOf(user: string): { readonly uid: number; readonly gid: number } | undefined {
  const ask = (flag: string) => spawnSync('id', [flag, user], { encoding: 'utf8' })
  const [uid, gid] = [ask('-u'), ask('-g')]
  return uid.status === 0 && gid.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined
}
