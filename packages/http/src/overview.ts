/** Data about the API itself and about schedules, beside the engine's own counts. */
import type { Engine } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { BOUNDS } from './limits.ts'
import type { Service } from './operation.ts'

export interface Overview {
  readonly version: string | undefined
  /** Milliseconds since the API was built. */
  readonly uptimeMs: number
  readonly schedules: ScheduleCounts
}

export interface ScheduleCounts {
  readonly enabled: number
  readonly paused: number
  /** Enabled ones whose last job has failed. */
  readonly failing: number
  /** False if there are more, which were not counted. */
  readonly complete: boolean
}

export async function overviewOf({ engine, clock, settings, startedAt }: Service): Promise<Overview> {
  const schedules = await countSchedules(engine)
  return { version: settings.version, uptimeMs: Math.max(0, Math.round(clock.read().mono - startedAt.mono)), schedules }
}

/** Counts page by page, up to a limit. The engine keeps no count of them, and few installations have more than a page. */
async function countSchedules({ schedules }: Engine): Promise<ScheduleCounts> {
  let [enabled, paused, failing] = [0, 0, 0]
  let after: string | undefined
  do {
    const page = await schedules.list({ limit: LIMITS.pageSchedules, ...(after !== undefined && { after }) })
    for (const schedule of page.schedules) {
      if (schedule.paused) paused++
      else enabled++
      if (!schedule.paused && schedule.lastResult?.state === 'failed') failing++
    }
    after = page.next
  } while (after !== undefined && enabled + paused < BOUNDS.countedSchedules)
  return { enabled, paused, failing, complete: after === undefined }
}
