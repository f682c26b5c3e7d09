/** The stream of new work: which jobs and flows come in each tick, as a function of the seed. */
import type { EnqueueOptions } from '@millrace/core'
import { KINDS, type Kind, kindNamed } from './kinds.ts'
import { randomOf } from './random.ts'

export interface DemoJob {
  readonly job: string
  readonly data: Readonly<Record<string, unknown>>
  readonly options: EnqueueOptions
}

export interface DemoTick {
  readonly jobs: readonly DemoJob[]
  /** The jobs of an order, in some of the ticks. */
  readonly flow: readonly (DemoJob & { readonly ref: string; readonly dependsOn: readonly string[] })[] | undefined
}

/** The time between two ticks, in milliseconds. */
export const TICK_MS = 500
const TICKS_PER_MINUTE = 60_000 / TICK_MS
const FLOWS_PER_MINUTE = 3
/** The work comes in waves of this length. */
const WAVE_TICKS = 4 * TICKS_PER_MINUTE
/** Few enough attempts that a failing job is given up within the first minute. */
const PATIENCE: EnqueueOptions = { maxAttempts: 3, backoff: { type: 'exponential', delay: '4s', factor: 3 } }

/** @param rate multiplies the number of jobs */
export function tickOf(seed: number, tick: number, rate = 1): DemoTick {
  const wave = rate * (1 + 0.5 * Math.sin((2 * Math.PI * tick) / WAVE_TICKS))
  const jobs = KINDS.flatMap((kind) => {
    const random = randomOf(seed, kind.name, tick)
    const wanted = (kind.perMinute / TICKS_PER_MINUTE) * wave
    const count = Math.floor(wanted) + (random() < wanted % 1 ? 1 : 0)
    return Array.from({ length: count }, (_, index) => jobOf(kind, random, numberOf(tick, index)))
  })
  const random = randomOf(seed, 'order', tick)
  return { jobs, flow: random() < (FLOWS_PER_MINUTE / TICKS_PER_MINUTE) * wave ? orderOf(random, numberOf(tick, 999)) : undefined }
}

/** Returns a number that no other job has. */
function numberOf(tick: number, index: number): number {
  return tick * 1_000 + index
}

function jobOf({ name, queue, data: dataOf, options }: Kind, random: () => number, number: number): DemoJob {
  const data = dataOf(random, number)
  return { job: name, data, options: { ...PATIENCE, queue, ...options?.(data) } }
}

/** Stock is reserved and the card is charged, then the order is packed, shipped, and a receipt is sent. */
function orderOf(random: () => number, number: number): DemoTick['flow'] {
  const order = kindNamed('charge-card').data(random, number)
  const step = (ref: string, name: string, dependsOn: readonly string[]) => {
    const { queue } = kindNamed(name)
    return { ref, job: name, data: order, options: { ...PATIENCE, queue, tags: [`order:${order['order'] as number}`] }, dependsOn }
  }
  return [
    step('stock', 'reserve-stock', []),
    step('charge', 'charge-card', []),
    step('pack', 'pack-order', ['stock', 'charge']),
    step('receipt', 'send-receipt', ['charge']),
    step('ship', 'ship-order', ['pack']),
  ]
}
