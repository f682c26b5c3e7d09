/**
 * The questions of an open overview, and how often it asks each: test/dashboard compares them with what the page asks. It asks for
 * schedules only if one fails.
 */

export interface Look {
  readonly path: string
  /** Milliseconds between two of them, at the rate that the page begins with. */
  readonly everyMs: number
}

export const OVERVIEW_LOOKS: readonly Look[] = [
  { path: '/v1/stats?names=percentiles&definitions=disputed', everyMs: 2_000 },
  { path: '/v1/failures?trend=hour', everyMs: 10_000 },
  { path: '/v1/workers', everyMs: 10_000 },
  { path: '/v1/queues?limit=500', everyMs: 16_000 },
  { path: '/v1/history?queues=*&step=minute&limit=50', everyMs: 16_000 },
]
