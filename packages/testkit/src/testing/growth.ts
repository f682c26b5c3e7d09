/**
 * Finds leaks: what remains after a thousand rounds of something that should leave nothing behind. Measures sizes that the test
 * names, listeners, open timers of a clock, and this process's own timers, handles and descriptors.
 */
import { existsSync, readdirSync } from 'node:fs'
import type { Clock } from '@millrace/core'

export interface Watched {
  /** Sizes of maps, sets and lists, by name. None may grow at all. */
  readonly sizes?: Readonly<Record<string, () => number>>
  /** Emitters, event targets of `node:events`, ports and sockets, by name. */
  readonly emitters?: Readonly<Record<string, { eventNames(): readonly (string | symbol)[]; listenerCount(name: never): number }>>
  /** Clocks that `countTimers` returned. */
  readonly clocks?: Readonly<Record<string, { readonly openTimers: number }>>
}

/** The number of resources that may come and go, because the process has them for other reasons. */
const NOISE = 8
const WARM_UP = 10
const DESCRIPTORS = '/proc/self/fd'

/**
 * Runs `round` some times to warm up, then a thousand times. Returns what has grown meanwhile, by name: `{}` without a leak.
 *
 *     expect(await growth({ sizes: { drains: () => drains.size } }, (round) => ask(round))).toEqual({})
 */
export async function growth(
  watched: Watched,
  round: (number: number) => unknown,
  rounds = 1_000,
): Promise<Readonly<Record<string, number>>> {
  for (let number = 0; number < WARM_UP; number++) await round(number)
  const before = measure(watched)
  for (let number = WARM_UP; number < WARM_UP + rounds; number++) await round(number)
  const after = measure(watched)
  const grown = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return Object.fromEntries(grown.filter(([name, more]) => more > (name.startsWith('process: ') ? NOISE : 0)))
}

/** Returns a clock that counts those of its timers that have neither fired nor been cancelled. */
export function countTimers(clock: Clock): Clock & { readonly openTimers: number } {
  const open = new Set<object>()
  return {
    read: () => clock.read(),
    setTimer(ms, wake) {
      const timer = {}
      open.add(timer)
      const cancel = clock.setTimer(ms, () => {
        open.delete(timer)
        wake()
      })
      return () => {
        open.delete(timer)
        cancel()
      }
    },
    get openTimers() {
      return open.size
    },
  }
}

function measure({ sizes = {}, emitters = {}, clocks = {} }: Watched): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [name, size] of Object.entries(sizes)) counts[name] = size()
  for (const [name, emitter] of Object.entries(emitters))
    counts[`listeners of ${name}`] = emitter.eventNames().reduce((all, event) => all + emitter.listenerCount(event as never), 0)
  for (const [name, { openTimers }] of Object.entries(clocks)) counts[`timers of ${name}`] = openTimers
  for (const kind of process.getActiveResourcesInfo()) counts[`process: ${kind}`] = (counts[`process: ${kind}`] ?? 0) + 1
  if (existsSync(DESCRIPTORS)) counts['process: descriptors'] = readdirSync(DESCRIPTORS).length
  return counts
}
