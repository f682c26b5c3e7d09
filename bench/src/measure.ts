/** Measures what the flags ask for, says how it goes on stderr, prints the table, writes the JSON; answers the exit code. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conduct } from './conduct.ts'
import { EXPERIMENTS } from './experiments/list.ts'
import type { Flags } from './flags.ts'
import { commit, fileSystemOf, machineOf, versions } from './machine.ts'
import { PAYLOAD_BYTES } from './payload.ts'
import { type AvailablePeer, availablePeer } from './peers/available.ts'
import { PEERS } from './peers/list.ts'
import type { Plan } from './plan.ts'
import { FORMAT, type Omission, type Result, type Row } from './result.ts'
import { RESULTS } from './saved.ts'
import { whyNoSyncs } from './syncs.ts'
import { tableOf } from './table.ts'

const INTERRUPTED = 130

export async function measure(flags: Flags): Promise<number> {
  const { peers, skipped } = choosePeers(flags)
  const plan: Plan = { ...flags, peers }
  const folder = mkdtempSync(join(flags.folder, 'millrace-bench-'))
  const clean = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  // The process that measures is ended with this one: see runProcess.ts.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED))
  process.once('exit', clean)
  const noSyncs = whyNoSyncs()
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  if (fileSystemOf(folder) === 'tmpfs')
    say('warning: these files are in memory, where a sync costs nothing; give a folder on a disk with --folder')

  const rows: Row[] = []
  const failed: Omission[] = []
  try {
    for (const experiment of EXPERIMENTS) {
      if (flags.only.length > 0 && !flags.only.includes(experiment.name)) continue
      const conducted = await conduct(experiment, plan, { folder, noSyncs, say })
      rows.push(...conducted.rows)
      failed.push(...conducted.failed)
      skipped.push(...(experiment.omissions?.(plan) ?? []))
    }
    const result = resultOf(flags, peers, folder, { rows, skipped, failed })
    process.stdout.write(`${tableOf(result)}\n`)
    write(result, flags, say)
  } finally {
    clean()
  }
  // Of our own: that another system fails its check is told, and is not our failure.
  return failed.some(({ subject }) => !PEERS.some(({ name }) => name === subject)) ? 1 : 0
}

function choosePeers(flags: Flags): { readonly peers: readonly AvailablePeer[]; readonly skipped: Omission[] } {
  const skipped: Omission[] = []
  const peers = PEERS.filter(({ name }) => flags.peers.includes(name)).flatMap((peer) => {
    const available = availablePeer(peer, flags.packages)
    if (typeof available !== 'string') return [available]
    skipped.push({ subject: peer.name, experiment: 'all', reason: available })
    return []
  })
  return { peers, skipped }
}

function resultOf(
  flags: Flags,
  peers: readonly AvailablePeer[],
  folder: string,
  told: Pick<Result, 'rows' | 'skipped' | 'failed'>,
): Result {
  const { jobs, repetitions, growthMax, peerJobs, idleJobs, syncJobs, sustainedSeconds } = flags
  return {
    format: FORMAT,
    date: new Date().toISOString(),
    commit: commit(),
    machine: machineOf(folder),
    versions: Object.assign({}, versions(), ...peers.map((one) => one.versions)),
    settings: { repetitions, jobs, payloadBytes: PAYLOAD_BYTES, idleJobs, syncJobs, growthMax, sustainedSeconds, peerJobs },
    ...told,
  }
}

function write(result: Result, { json, save }: Flags, say: (line: string) => void): void {
  const text = `${JSON.stringify(result, null, 2)}\n`
  if (json !== undefined) writeFileSync(json, text)
  if (!save) return
  mkdirSync(RESULTS, { recursive: true })
  const name = `${result.date.slice(0, 16).replaceAll(':', '')}-${result.commit.split(' ')[0]}.json`
  writeFileSync(join(RESULTS, name), text)
  say(`saved as bench/results/${name}`)
}
