/** One sentence about what has just been done, or has failed, for a few seconds. */
import { signal } from '@preact/signals'
import { clock } from '../page.ts'

export interface Message {
  readonly text: string
  readonly isBad: boolean
}

const SHOWN_MS = 6_000

export const message = signal<Message | undefined>(undefined)

export function tell(text: string, isBad = false): void {
  const shown = { text, isBad }
  message.value = shown
  clock.after(SHOWN_MS, () => {
    if (message.peek() === shown) message.value = undefined
  })
}
