/** What Linux tells of processes: enough to know one from a later one of the same number. On other systems nothing is told. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Stat {
  readonly state: string
  readonly group: number
  readonly session: number
  /** Ticks since the boot: with the number, it names a process for as long as the machine is up. */
  readonly start: string
}

function statOf(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name in the second field may contain anything, also blanks and brackets.
  const fields = text.replace(/^.*\) /s, '').split(' ')
  return { state: fields[0] as string, group: Number(fields[2]), session: Number(fields[3]), start: fields[19] as string }
}

const isOver = ({ state }: Stat): boolean => state === 'Z' || state === 'X'

/** When the process began; undefined where it has ended, or the system does not tell. */
export function startOf(pid: number): string | undefined {
  const stat = statOf(pid)
  return stat === undefined || isOver(stat) ? undefined : stat.start
}

/** Numbers of processes mean something within one boot and one namespace alone; empty where the system does not tell. */
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

/** Of the group, those that still run; undefined where the system does not tell. */
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

/** Started detached, a group is a session too: what has joined another one is none of it. */
function isMember(pid: number, group: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && stat.session === group && !isOver(stat)
}

/** Whether the process was started with these variables; undefined where it shows none, as for a moment in which it becomes another program. */
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
