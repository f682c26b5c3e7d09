/** The words by which a session introduces itself to the engine with each attach. */
import type { SessionIntro, WorkSettings } from '@millrace/core'
import type { Handler } from './define.ts'
import type { Intake } from './intake.ts'
import { isModuleHandler } from './pools/handler.ts'

interface Introduced extends Pick<SessionIntro, 'host' | 'pid' | 'local'> {
  readonly handlers: readonly Handler[]
  readonly settings: WorkSettings
}

export function introOf(
  { handlers, settings, host, pid, local }: Introduced,
  uuid: string,
  worker: string,
  { announced }: Intake,
): SessionIntro {
  const [first] = handlers
  return {
    uuid,
    worker,
    host,
    pid,
    local,
    handlers: handlers.map(({ definition: { name, defaults } }) => ({ name, defaults })),
    ...(settings.queues !== undefined && { queues: settings.queues }),
    ...(settings.order === 'strict' && { order: settings.order }),
    ...announced,
    abortGrace: settings.abortGraceMs,
    // Handlers of a pool have sessions of their own.
    ...(first !== undefined && isModuleHandler(first) && { pooled: true }),
    ...(first?.kind === 'process' && { isolated: true }),
  }
}
