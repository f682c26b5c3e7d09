/** The session: the user's name and scopes. The page never sees the token again, because the session is a cookie. */
import { signal } from '@preact/signals'
import type { Scope, Session } from './api/answers.ts'
import type { Api } from './api/client.ts'
import { ApiError } from './api/problem.ts'

export class Sessions {
  /** Undefined until it is known. */
  readonly current = signal<Session | undefined>(undefined)
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** True if the session has the scope. Actions that it does not allow are absent. */
  can(scope: Scope): boolean {
    return this.current.value?.scopes.includes(scope) === true
  }

  /** Resolves with false if nobody is logged in. */
  async load(): Promise<boolean> {
    try {
      this.current.value = await this.#api.get('/v1/session')
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return false
      throw error
    }
  }

  async logIn(token: string): Promise<void> {
    await this.#api.send('POST', '/v1/session', { token })
  }

  async logOut(): Promise<void> {
    await this.#api.send('DELETE', '/v1/session')
  }
}
