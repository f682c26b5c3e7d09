/**
 * The processor time of a process and of all that it starts, also of processes that detach or change their user. The whole is counted by the kernel in
 * a control group, if one can be made; otherwise it is what was seen in /proc. What a process is, /proc says while it runs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TICK_S = 0.01
/** Version 1 of control groups has a folder for this counter; version 2 has one tree. */
const GROUPS = ['/sys/fs/cgroup/cpuacct', '/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup']

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/chrom/i, 'browser'],
  [/postgres/, 'Postgres'],
  [/pgbouncer|redis|mongod/, 'other servers'],
  [/python|mypy/, 'Python'],
  [/vitest[^ ]*\/dist\/workers|vitest-watchdog|\(vitest \d+\)|workers\/forks/, 'workers of vitest'],
  [/vitest\.mjs/, 'main process of vitest'],
  [/\bnode\b/, 'other processes of Node'],
]

interface Seen {
  readonly cause: string
  readonly seconds: number
}

export class Account {
  readonly #group: string | undefined
  readonly #root = new Set<number>()
  /** By process and the moment of its start: numbers of processes are used again. */
  readonly #seen = new Map<string, Seen>()

  private constructor(group: string | undefined) {
    this.#group = group
  }

  static open(): Account {
    for (const parent of GROUPS) {
      const group = join(parent, `millrace-${process.pid}`)
      try {
        mkdirSync(group)
        if (existsSync(join(group, 'cgroup.procs'))) return new Account(group)
        rmdirSync(group)
      } catch {
        // Only root may make groups, and some containers have none. What /proc shows is counted in their place.
      }
    }
    return new Account(undefined)
  }

  /** Counts this process and all that it starts from now on. */
  add(pid: number): void {
    this.#root.add(pid)
    if (this.#group !== undefined) writeFileSync(join(this.#group, 'cgroup.procs'), String(pid))
  }

  look(): void {
    for (const pid of this.#pids()) {
      const stat = read(`/proc/${pid}/stat`)
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields.length < 20) continue
      const seconds = (Number(fields[11]) + Number(fields[12])) * TICK_S
      const key = `${pid} ${fields[19]}`
      // A new process is still what its parent is, until it runs its own program. One that has just ended says nothing any more.
      this.#seen.set(key, { cause: causeOf(pid) ?? this.#seen.get(key)?.cause ?? 'others', seconds })
    }
  }

  /** Returns a line for each cause, and one for the whole. */
  close(): string[] {
    const causes = new Map<string, number>()
    for (const { cause, seconds } of this.#seen.values()) causes.set(cause, (causes.get(cause) ?? 0) + seconds)
    const seen = [...causes.values()].reduce((all, one) => all + one, 0)
    const whole = this.#whole() ?? seen
    causes.set('too short to be seen', Math.max(0, whole - seen))
    const rows = [...causes]
      .toSorted(([, a], [, b]) => b - a)
      .map(([cause, seconds]) => `${cause.padEnd(26)} ${seconds.toFixed(1).padStart(8)} s`)
    return [...rows, `processor time, ${this.#group === undefined ? 'as far as it was seen' : 'all processes'}: ${whole.toFixed(1)} s`]
  }

  #whole(): number | undefined {
    if (this.#group === undefined) return undefined
    const first = read(join(this.#group, 'cpuacct.usage'))
    const seconds = first === '' ? Number(/usage_usec (\d+)/.exec(read(join(this.#group, 'cpu.stat')))?.[1]) / 1e6 : Number(first) / 1e9
    try {
      rmdirSync(this.#group)
    } catch {
      // A process that is left keeps the group, and is no part of this run's time.
    }
    return seconds
  }

  #pids(): number[] {
    if (this.#group !== undefined) return numbers(read(join(this.#group, 'cgroup.procs')))
    const parents = new Map<number, number>()
    for (const name of readdirSync('/proc'))
      if (/^\d+$/.test(name)) parents.set(Number(name), Number(/\) \S (\d+)/.exec(read(`/proc/${name}/stat`))?.[1]))
    const isOurs = (pid: number | undefined): boolean => pid !== undefined && pid > 1 && (this.#root.has(pid) || isOurs(parents.get(pid)))
    return [...parents.keys()].filter(isOurs)
  }
}

const numbers = (text: string): number[] => text.split('\n').filter(Boolean).map(Number)

function causeOf(pid: number): string | undefined {
  const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
  return command === '' ? undefined : (CAUSES.find(([pattern]) => pattern.test(command))?.[1] ?? 'others')
}

/** Returns an empty text for a process that is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
