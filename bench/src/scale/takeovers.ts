/** How long a process waits for its next job to be acknowledged when the owner of its schema is killed, or vanishes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Engine, MillraceError, openEngine } from '@millrace/engine'
import { noop } from '../jobs.ts'
import { payloadOf } from '../payload.ts'

const OWNER = fileURLToPath(new URL('./owner.ts', import.meta.url))
const TAG = 'killed'

/**
 * Returns the milliseconds of each takeover: this process takes over from another one.
 *
 * @param signal `SIGKILL`, or `SIGSTOP`: its connections stay open and say nothing, like those of a machine that is gone
 */
export async function takeovers(address: string, times: number, signal: 'SIGKILL' | 'SIGSTOP'): Promise<readonly number[]> {
  const measured: number[] = []
  for (let index = 0; index < times; index++) {
    const owner = spawn(process.execPath, [...process.execArgv, OWNER, address], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(owner, 'exit')
    await once(owner.stdout, 'data')
    await using engine = await openEngine({ postgres: address, logger: false })
    await enqueued(engine, index)
    owner.kill(signal)
    if (signal === 'SIGKILL') await ended
    const from = performance.now()
    await enqueued(engine, index)
    measured.push(performance.now() - from)
    owner.kill('SIGKILL')
    await ended
  }
  return measured
}

async function enqueued(engine: Engine, index: number): Promise<void> {
  for (;;) {
    try {
      await engine.enqueue(noop, payloadOf(index, TAG))
      return
    } catch (error) {
      if (!(error instanceof MillraceError && error.retryable)) throw error
    }
  }
}
