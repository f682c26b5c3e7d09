/**
 * Counts what each test file costs, in every run: what it starts, opens and waits for. Counts are the same on every machine, so test/rules/costs.ts
 * bounds them; seconds are not, so `pnpm test:cost` only prints them.
 */
import childProcess from 'node:child_process'
import diagnostics from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { getCallSites } from 'node:util'
import { afterAll } from 'vitest'
import { beginFile, cost } from './cost.ts'

const WAIT_MS = 50
/** A process may run many files, one after the other. */
const WATCHED = Symbol.for('millrace.test.watched')
if (!(WATCHED in globalThis)) watch()
beginFile()
const before = cpuMs()
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the source of a hook which fixtures it takes
afterAll(({}, { file }) => {
  file.meta.cost = { ...cost, cpuMs: cpuMs() - before }
})

function watch(): void {
  Object.assign(globalThis, { [WATCHED]: true })
  diagnostics.subscribe('child_process', () => cost.processes++)
  process.on('worker', () => cost.threads++)
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const)
    wrap(childProcess, name, (original) => (...all) => {
      cost.processes++
      return original(...all)
    })
  wrap(timers, 'setTimeout', (original) => async (...all) => {
    const isWait = Number(all[0]) >= WAIT_MS && isTestCode()
    const value = await original(...all)
    if (isWait) cost.waits++
    return value
  })
  wrap(globalThis, 'setTimeout', (original) => (...all) => {
    const [callback, delayMs, ...rest] = all as [(...passed: unknown[]) => void, number, ...unknown[]]
    if (!(delayMs >= WAIT_MS && isTestCode())) return original(...all)
    return original(
      (...passed: unknown[]) => {
        cost.waits++
        callback(...passed)
      },
      delayMs,
      ...rest,
    )
  })
  syncBuiltinESMExports()
}

type Any = (...all: unknown[]) => unknown

/** Replaces a function by one that keeps its properties, such as that for `util.promisify`. */
function wrap<K extends string>(holder: { [key in K]: unknown }, name: K, wrapper: (original: Any) => Any): void {
  const original = holder[name] as Any
  holder[name] = Object.defineProperties(wrapper(original.bind(holder)), Object.getOwnPropertyDescriptors(original))
}

/** True if the caller of the wrapped function is a test, or what tests share. */
function isTestCode(): boolean {
  // Without the maps of sources, which are dear: a client of the browser sets thousands of timers.
  const caller = getCallSites(3)[2]?.scriptName ?? ''
  return /\.test\.ts$|\/test\//.test(caller) && !caller.includes('node_modules')
}

/** Returns the processor time of this process and of its children that have ended, in the ticks of 10 ms that Linux counts in. */
function cpuMs(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [utime, stime, cutime, cstime] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number) as [number, number, number, number]
  return 10 * (utime + stime + cutime + cstime)
}
