/** The periods that the overview can show, and how their steps become the columns of charts. */

export interface Period {
  readonly step: 'minute' | 'hour'
  readonly ms: number
  /** Steps in a column of the large chart, and of those in the list of queues. */
  readonly chartSteps: number
  readonly sparkSteps: number
  /** Queues that are answered one by one: fewer where each is long. */
  readonly queues: number
}

const H = 3_600_000

export const PERIODS = {
  '1h': { step: 'minute', ms: H, chartSteps: 1, sparkSteps: 2, queues: 50 },
  '6h': { step: 'minute', ms: 6 * H, chartSteps: 5, sparkSteps: 12, queues: 12 },
  '24h': { step: 'hour', ms: 24 * H, chartSteps: 1, sparkSteps: 1, queues: 50 },
  '14d': { step: 'hour', ms: 14 * 24 * H, chartSteps: 4, sparkSteps: 12, queues: 12 },
} as const satisfies Readonly<Record<string, Period>>

export type PeriodName = keyof typeof PERIODS

export const STEP_MS = { minute: 60_000, hour: H } as const

/** Returns the period of an address: the last hour unless it names another one. */
export function periodOf(name: string | undefined): PeriodName {
  return name !== undefined && Object.hasOwn(PERIODS, name) ? (name as PeriodName) : '1h'
}
