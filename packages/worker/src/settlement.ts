/** The ends of a run, and those refusals after which its own end no longer matters. */
import type { CompleteCommand, FailCommand, GiveBackCommand, JoinCommand, RunKey, SnoozeCommand } from '@millrace/core'

/** How a run ends, as its worker reports it. */
export type Outcome = CompleteCommand | FailCommand | SnoozeCommand | JoinCommand | GiveBackCommand

/** The run has ended with a wait, which is committed already: there is nothing to report. */
export interface Asleep extends RunKey {
  readonly op: 'asleep'
}

export type Settlement = Outcome | Asleep

/** Refusals after which the outcome of a run no longer matters. */
const OVER: ReadonlySet<string> = new Set(['STALE_RUN', 'ENGINE_STOPPED', 'ENGINE_FAILED', 'OWNER_LOST'])

/** True if no other outcome has a better chance. A token may not allow what comes with an outcome, but allow a failure. */
export function isOver({ op }: Outcome, { code }: { readonly code: string }): boolean {
  return op === 'giveBack' || OVER.has(code) || (op === 'fail' && code === 'FORBIDDEN')
}
