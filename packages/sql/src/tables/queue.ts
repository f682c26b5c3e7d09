/** Table `queue_settings`: the settings of a queue. */
import type { Queue } from '@millrace/core/kernel'

/** JSON has no Infinity: null stands for it, for example in the timeout of the defaults. */
export function settingsText({ settings }: Queue): string {
  return JSON.stringify(settings)
}
