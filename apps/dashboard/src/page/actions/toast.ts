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
  const told = { text, isBad }
  message.value = told
  clock.after(SHOWN_MS, () => {
    if (message.peek() === told) message.value = undefined
  })
}
