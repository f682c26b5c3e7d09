/** Whether the disk was asked to sync as often as the engine answered: counted by strace from outside, where it is present. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Settings } from './measurement.ts'
import { runProcess } from './runProcess.ts'

const STRACE = ['strace', '-f', '-c', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync']

/** Why syncs cannot be counted here; undefined where they can. */
export function whyNoSyncs(): string | undefined {
  const { error, status, stderr } = spawnSync(STRACE[0] as string, [...STRACE.slice(1), 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not on PATH'
  return status === 0 ? undefined : `strace cannot trace here: ${stderr.trim().split('\n').at(-1) ?? ''}`
}

/** Runs the scenario once more under strace; throws where fewer syncs than turns that answered were seen. */
export async function checkSyncs(scenario: string, settings: Partial<Settings> & { readonly file: string }): Promise<string> {
  const counted = `${settings.file}.strace`
  const { turns = 0 } = await runProcess(scenario, settings, { prefix: [...STRACE, '-o', counted] })
  const syncs = parseCalls(readFileSync(counted, 'utf8'))
  if (turns === 0 || syncs < turns) throw new Error(`${syncs} syncs for ${turns} turns that answered`)
  return `${syncs} syncs for ${turns} turns`
}

/** The lines of `strace -c` are: % time, seconds, usecs/call, calls, errors (may be empty), syscall. */
function parseCalls(text: string): number {
  let calls = 0
  for (const line of text.split('\n')) {
    const found = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(?:fsync|fdatasync)\s*$/.exec(line)
    calls += Number(found?.[1] ?? 0)
  }
  return calls
}
