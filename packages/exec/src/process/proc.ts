/** Process data from Linux: enough to distinguish a process from a later one with the same pid. Other systems report nothing. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Stat {
  readonly state: string
  readonly group: number
  readonly session: number
  /** Ticks since the boot. With the pid, they identify a process for as long as the machine is up. */
  readonly start: string
}

function statOf(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name in the second field may contain anything, even blanks and brackets.
  const fields = text.replace(/^.*\) /s, '').split(' ')
  return { state: fields[0] as string, group: Number(fields[2]), session: Number(fields[3]), start: fields[19] as string }
}

const isOver = ({ state }: Stat): boolean => state === 'Z' || state === 'X'

/** Returns when the process began, or undefined if it has ended or the system does not report it. */
export function startOf(pid: number): string | undefined {
  const stat = statOf(pid)
  return stat === undefined || isOver(stat) ? undefined : stat.start
}

/**
 * True if the process has certainly ended. A process that `/proc` hides (`hidepid`, `ProtectProc`) may be alive: then its number decides.
 *
 * @param look finds what `/proc` shows of it
 */
export function hasEnded({ pid, start }: { readonly pid: number; readonly start: string }, look = statOf): boolean {
  const stat = look(pid)
  return stat === undefined ? isGone(pid) : isOver(stat) || stat.start !== start
}

/** True if no process has this number. One of another user, which must not be signalled, has it. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Returns the id of this boot, or '' if the system reports none. A pid has a meaning only within one boot and one namespace. */
export function bootId(): string {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

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
  return stat !== undefined && stat.group === group && stat.session === group && !isOver(stat)
}

/** True if the process was started with these variables. Undefined if it shows none, as for a moment while it becomes another program. */
export function wasGiven(pid: number, variables: Readonly<Record<string, string>>): boolean | undefined {
  const environment = read(`/proc/${pid}/environ`)
  if (environment === '') return undefined
  const given = new Set(environment?.split('\0'))
  return Object.entries(variables).every(([name, value]) => given.has(`${name}=${value}`))
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
