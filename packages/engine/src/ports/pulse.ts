/**
 * Reports the figures of this process to the writer while workers of this thread are attached. Workers of other processes report theirs
 * with the renewals of their leases; these have none.
 */
import type { Clock, Vitals } from '@millrace/core'
import { REPORT_EVERY_MS, VitalSigns } from '@millrace/worker'
import { ownClock } from '../clock.ts'
import type { SessionChange } from '../readers/readRouter.ts'

export class Pulse {
  readonly #say: (vitals: Vitals) => void
  readonly #clock: Pick<Clock, 'read' | 'setTimer'>
  readonly #signs: VitalSigns
  readonly #sessions = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(say: (vitals: Vitals) => void, clock: Pick<Clock, 'read' | 'setTimer'> = ownClock) {
    this.#say = say
    this.#clock = clock
    this.#signs = new VitalSigns(clock)
  }

  /** Takes note of a worker that comes or goes, before the writer hears of it. */
  note(change: SessionChange): void {
    if (change.op === 'attach') this.#begin(change.session.uuid)
    else if (this.#sessions.delete(change.session) && this.#sessions.size === 0) this.end()
  }

  end(): void {
    this.#sessions.clear()
    this.#cancel?.()
    this.#cancel = undefined
    this.#signs.end()
  }

  #begin(session: string): void {
    this.#sessions.add(session)
    if (this.#cancel !== undefined) return
    this.#signs.begin()
    this.#beat()
  }

  readonly #beat = (): void => {
    this.#cancel = this.#clock.setTimer(REPORT_EVERY_MS, this.#beat)
    this.#say(this.#signs.take())
  }
}
