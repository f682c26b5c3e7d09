/** A project as a user has it: this checkout's packages from their tarballs, beside other queues in the versions of this workspace. */
import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { install, pack } from '../../../test/consumers/pack.ts'
import { findPackage } from '../peers/packages.ts'

const PEERS = ['bullmq', 'ioredis', 'pg-boss', 'plainjob', 'better-sqlite3'] as const

export async function installAll(folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'start', private: true, type: 'module' }))
  await pack(folder)
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const peers = PEERS.map((name) => `${name}@${findPackage(name, '')?.version ?? 'latest'}`)
  await install(folder, [...tarballs.map((name) => `./${name}`), ...peers])
  const programs = join(import.meta.dirname, 'programs')
  for (const name of readdirSync(programs)) cpSync(join(programs, name), join(folder, name))
}
