/**
 * Identifies a process among all others on its machine, even later ones with its number, and tests if it is still alive. If that
 * cannot be known (another machine, another container, a system other than Linux), nothing is said, and leases decide.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** This process never leaves its boot and its namespace. */
const HERE = namespace()

/** Returns `boot:namespace:pid:start`; empty if it cannot be known. */
export function processKey(): string {
  const start = startOf(process.pid)
  return start === undefined || HERE === undefined ? '' : `${HERE}:${process.pid}:${start}`
}

/** True if the process with that key is certainly dead. */
export function isDead(key: string, find?: FindProcess): boolean {
  const [, , number, start = ''] = key.split(':')
  return isHere(key) && hasEnded({ pid: Number(number), start }, find)
}

/** True if the process with that key is, or was, where this process can see it. */
export function isHere(key: string): boolean {
  const [boot, space, , start] = key.split(':')
  return start !== undefined && `${boot}:${space}` === HERE
}

/** Returns the id of the machine's current boot; empty if the system does not report it. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

/** Returns the name of this process's pid namespace, such as `pid:[4026531836]`; empty if the system does not report it. */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Returns the boot and the pid namespace: numbers of processes have a meaning only within both. */
function namespace(): string | undefined {
  const boot = bootId()
  const space = pidNamespace().replace(/\D/g, '')
  return boot === '' || space === '' ? undefined : `${boot}:${space}`
}

interface FoundProcess {
  /** True for a zombie, too: it waits for its parent to collect it. */
  readonly ended: boolean
  /** When it began, as the system reports it: with the pid, it identifies the process. A reused pid has another start. */
  readonly start: string
}

export type FindProcess = (pid: number) => FoundProcess | undefined

interface Stat extends FoundProcess {
  /** Ticks since the boot. */
  readonly start: string
  readonly group: number
  readonly session: number
}

/** Returns what `/proc` shows of a process; undefined if it has ended, or if its entry cannot be read. */
export function statOf(pid: number): Stat | undefined {
  try {
    // The name in the second field may contain any characters, including blanks and brackets.
    const [state = '', , group, session, ...rest] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { ended: state === 'Z' || state === 'X', group: Number(group), session: Number(session), start: rest[15] as string }
  } catch {
    return undefined
  }
}

/** Returns when the process began, or undefined if it has ended or the system does not report it. */
export function startOf(pid: number): string | undefined {
  const stat = statOf(pid)
  return stat?.ended === false ? stat.start : undefined
}

/**
 * True if the process has certainly ended. A process that `/proc` hides (`hidepid`, `ProtectProc`) may be alive: then its number decides.
 *
 * @param process its `start` is empty if it was not reported
 * @param find finds what the system shows of it; default `statOf`
 */
export function hasEnded({ pid, start }: { readonly pid: number; readonly start: string }, find: FindProcess = statOf): boolean {
  const found = find(pid)
  return found === undefined || start === '' ? isGone(pid) : found.ended || found.start !== start
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
