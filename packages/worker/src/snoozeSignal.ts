/** The end of a run whose handler has snoozed. */
import type { PausePart } from '@millrace/core'

/** Thrown by `snooze` to end the handler. */
export class SnoozeSignal extends Error {
  override readonly name = 'SnoozeSignal'
  readonly delayMs: number
  readonly pause: PausePart | undefined
  constructor(delayMs: number, pause?: PausePart) {
    super(`snoozed for ${delayMs} ms`)
    this.delayMs = delayMs
    this.pause = pause
  }
}
