/** The one answer that all health checks give. */
import type { Clock } from '@millrace/core'
import { within } from '@millrace/worker'
import type { Engine } from './engine.ts'

const ANSWER_MS = 5_000

/** Resolves to the reason for which the engine takes no new work: it has no answer within 5 s, or rejects jobs. Undefined if it takes them. */
export async function whyUnready(engine: Pick<Engine, 'stats'>, clock: Clock): Promise<string | undefined> {
  const asked = engine.stats({ names: 'none', definitions: 'disputed' }).then(
    ({ writer }) =>
      writer.draining ? 'no new work is taken: the disk is full, or the log has grown behind a slow reader' : ('ready' as const),
    () => 'the engine does not serve',
  )
  const answer = (await within(clock, ANSWER_MS, asked)) ?? 'the engine does not answer'
  return answer === 'ready' ? undefined : answer
}
