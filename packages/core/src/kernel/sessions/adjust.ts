/**
 * Changes how much a session takes. Only its own word changes that, and each attach repeats it, so nothing of it is stored: tables that
 * are loaded again learn it as the session comes back.
 */
import type { AdjustCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'

export function adjust({ tables }: TurnContext, command: AdjustCommand, { connection }: Sender): Decision<'adjust'> {
  const session = tables.sessions.get(command.session)
  // A former connection may deliver late. By then the session has attached by another, and has said what counts.
  if (session === undefined || session.holder !== connection) return true
  const { minConcurrency, maxConcurrency, paused = false } = command
  session.intro = { ...session.intro, minConcurrency, maxConcurrency, paused }
  tables.weigh(session)
  return true
}
