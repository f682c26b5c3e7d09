/** Changes something: sends it, says how it went, and looks at everything again. */
import type { Method } from '../api/client.ts'
import { api, live } from '../page.ts'
import { TEXT } from '../text.ts'
import { tell } from './toast.ts'

export interface Action {
  readonly method?: Method
  readonly path: string
  readonly body?: unknown
  /** The message that is shown once it has happened. */
  readonly done: string
}

/** Resolves with true if it has happened. */
export async function act({ method = 'POST', path, body, done }: Action): Promise<boolean> {
  try {
    await api.send(method, path, body)
    tell(done)
    return true
  } catch (error) {
    tell(TEXT.actions.failed((error as Error).message), true)
    return false
  } finally {
    live.refresh()
  }
}
