/**
 * Identifies a process among all others on its machine, even later ones with its number, and tests if it is still alive. If that
 * cannot be known (another machine, another container, a system other than Linux), nothing is said, and leases decide.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** This process never leaves its boot and its namespace. */
const HERE = namespace()

/** Returns `boot:namespace:pid:start`; empty if it cannot be known. */
export function processKey(): string {
  const stat = readStat(process.pid)
  return stat === undefined || HERE === undefined ? '' : `${HERE}:${process.pid}:${stat.start}`
}

/** True if the process with that key is certainly dead. A process that `/proc` hides (`hidepid`, `ProtectProc`) may be alive. */
export function isDead(key: string, statOf: (pid: number) => Stat | undefined = readStat): boolean {
  const [, , number, start] = key.split(':')
  if (!isHere(key)) return false
  const pid = Number(number)
  const stat = statOf(pid)
  return stat === undefined ? isGone(pid) : stat.ended || stat.start !== start
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

/** Returns the boot and the pid namespace: numbers of processes have a meaning only within both. */
function namespace(): string | undefined {
  const boot = bootId()
  try {
    return boot === '' ? undefined : `${boot}:${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return undefined
  }
}

interface Stat {
  /** True for a zombie, too. */
  readonly ended: boolean
  /** Ticks since the boot. */
  readonly start: string | undefined
}

/** Returns undefined if the process has ended, or if its entry cannot be read. */
function readStat(pid: number): Stat | undefined {
  try {
    // The name in the second field may contain anything, including blanks and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { ended: fields[0] === 'Z' || fields[0] === 'X', start: fields[19] }
  } catch {
    return undefined
  }
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
