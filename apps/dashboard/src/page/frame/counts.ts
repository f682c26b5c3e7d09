/** The counts beside the screens of the sidebar. */
import type { FailuresAnswer, StatsAnswer } from '../api/answers.ts'

export interface Counted {
  readonly value: number
  /** Asks for a look. */
  readonly isBad?: boolean
}

/** By the path of the screen; undefined where nothing is known. */
export function countsOf(
  stats: StatsAnswer | undefined,
  failures: FailuresAnswer | undefined,
): Readonly<Record<string, Counted | undefined>> {
  const groups = failures?.failures.length ?? 0
  return {
    '/errors': groups === 0 ? undefined : { value: groups, isBad: (stats?.states.failed ?? 0) > 0 },
    '/queues': stats && { value: Object.keys(stats.queues).length + (stats.queuesLeftOut ?? 0) },
    '/schedules': stats && { value: stats.schedules.enabled + stats.schedules.paused },
    '/workers': stats && { value: stats.workers },
  }
}
