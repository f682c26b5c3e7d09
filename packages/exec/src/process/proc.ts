/** Finds the processes of a group in Linux's `/proc`. Other systems report nothing. */
import { readdirSync, readFileSync } from 'node:fs'
import { statOf } from '@millrace/worker/process'

/** Returns the members of the group that still run, or undefined if the system does not report them. */
export function membersOf(group: number): number[] | undefined {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return undefined
  }
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  return pids.length === 0 ? undefined : pids.filter((pid) => isMember(pid, group))
}

/** True if the process is in the group. A detached group is a session too: a process that has joined another one is not in it. */
function isMember(pid: number, group: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && stat.session === group && !stat.ended
}

/** True if the process was started with these variables. Undefined if it shows none, as for a moment while it becomes another program. */
export function wasGiven(pid: number, variables: Readonly<Record<string, string>>): boolean | undefined {
  const environment = environmentOf(pid)
  if (environment === '') return undefined
  const given = new Set(environment?.split('\0'))
  return Object.entries(variables).every(([name, value]) => given.has(`${name}=${value}`))
}

function environmentOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return undefined
  }
}
