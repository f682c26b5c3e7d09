/** Changes something: sends it, says how it went, and looks at everything again. */
import type { Method } from '../api/client.ts'
import { api, live } from '../page.ts'
import { TEXT } from '../text.ts'
import { tell } from './toast.ts'

export interface Action {
  readonly method?: Method
  readonly path: string
  /** The body; a function is called first, and may ask for what it needs. */
  readonly body?: unknown
  /** The message that is shown once it has happened. */
  readonly done: string
  /** Called once it has happened, before all is asked again. */
  readonly onDone?: () => void
}

/** Resolves with true if it has happened. */
export async function act({ method = 'POST', path, body, done, onDone }: Action): Promise<boolean> {
  try {
    await api.send(method, path, typeof body === 'function' ? await body() : body)
    tell(done)
    onDone?.()
    return true
  } catch (error) {
    tell(TEXT.actions.failed((error as Error).message), true)
    return false
  } finally {
    live.refresh()
  }
}
