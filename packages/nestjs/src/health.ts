/** A health check for @nestjs/terminus, in the form that its indicators have. */
import { type Engine, whyUnready } from '@millrace/client'
import { systemClock } from '@millrace/worker'

/** The result of a health check, as @nestjs/terminus takes it. */
export type EngineHealth<Key extends string = string> = Record<Key, { readonly status: 'up' | 'down'; readonly message?: string }>

/**
 * Returns the health of an engine under a key, default `millrace`. It is down if the engine has no answer within 5 s, has ended, or
 * rejects new jobs: the message says which.
 *
 * @example
 * ```ts
 * return this.health.check([() => engineHealth(this.engine, 'jobs')])
 * ```
 */
export async function engineHealth<const Key extends string = 'millrace'>(engine: Engine, key?: Key): Promise<EngineHealth<Key>> {
  const message = await whyUnready(engine, systemClock)
  const result = message === undefined ? { status: 'up' } : { status: 'down', message }
  return { [key ?? 'millrace']: result } as EngineHealth<Key>
}
