/** Loads the files of the dashboard, and says where a browser finds it. */
import type { Logger } from '@millrace/core'
import type { DashboardOptions } from '@millrace/http'
import type { Config } from '../config/schema/schema.ts'

export type LoadFiles = () => Promise<DashboardOptions['files']>

/**
 * Returns the files if the configuration enables the dashboard. Jobs matter more than the page: if it cannot be loaded, the log says so,
 * and the daemon serves everything else.
 */
export async function filesOf(
  { enabled, dashboard }: Pick<Config['http'], 'enabled' | 'dashboard'>,
  load: LoadFiles | undefined,
  logger: Logger,
): Promise<DashboardOptions['files'] | undefined> {
  if (!enabled || !dashboard.enabled) return undefined
  try {
    return await load?.()
  } catch (error) {
    logger.error('cannot load the dashboard: serving without it', { error: (error as Error).message })
    return undefined
  }
}

/** Returns the URL with `localhost` for an address that means all those of this machine: a browser needs one of them. */
export function forBrowser(url: string): string {
  return url.replace(/(?<=\/\/)(?:0\.0\.0\.0|\[::\])(?=:\d+$)/, 'localhost')
}
