/** A pool of threads for handlers that are modules. A thread that ignores an abort beyond its grace is killed, and replaced. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type ErrorCode, MillraceError, refusalFrom, WorkerStoppedError } from '@millrace/core'
import { Piscina } from 'piscina'
import type { RunContext, RunLink } from '../context.ts'
import type { Settlement } from '../execute.ts'
import { runErrorOf } from '../runError.ts'
import type { ThreadHandler } from './handler.ts'
import type { FromThread, ThreadTask, ToThread } from './messages.ts'

/** What threads have to say about their runs goes the way that everything of a run goes. */
export interface ThreadLink extends RunLink {
  progress(context: RunContext, fraction: number, note: string | undefined): void
  log(context: RunContext, lines: Extract<FromThread, { kind: 'log' }>['lines']): void
}

interface ThreadRun {
  readonly channel: MessagePort
  readonly killer: AbortController
}

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>

export class ThreadPool {
  readonly #url: string
  readonly #pool: Piscina
  readonly #link: ThreadLink
  readonly #runs = new Map<RunContext, ThreadRun>()

  constructor({ url, settings: { threads, ...settings } }: ThreadHandler, link: ThreadLink) {
    this.#url = url
    this.#link = link
    const here = import.meta.url
    this.#pool = new Piscina({
      filename: new URL(here.endsWith('.ts') ? './thread.ts' : './thread.js', here).href,
      name: 'run',
      // Equal bounds: a pool that grows strands queued tasks when one of its threads is ended.
      minThreads: threads,
      maxThreads: threads,
      ...(settings as Pick<PiscinaOptions, 'resourceLimits' | 'execArgv' | 'env'>),
    })
  }

  /** Runs the job in a thread; never rejects. */
  async run(context: RunContext, checked: ThreadTask['checked']): Promise<Settlement> {
    const { port1, port2 } = new MessageChannel()
    const killer = new AbortController()
    this.#runs.set(context, { channel: port1, killer })
    port1.on('message', (message: FromThread) => this.#hear(context, port1, message))
    const task: ThreadTask = { url: this.#url, grant: context.grant, checked, maxDataBytes: this.#link.maxDataBytes, channel: port2 }
    try {
      return await this.#pool.run(task, { transferList: [port2], signal: killer.signal })
    } catch (error) {
      return failure(context, error)
    } finally {
      this.#runs.delete(context)
      port1.close()
    }
  }

  abort(context: RunContext, reason: Error): void {
    const { code, message } = refusalFrom(reason)
    this.#tell(context, { kind: 'abort', code, message })
  }

  kill(context: RunContext): void {
    this.#runs.get(context)?.killer.abort()
  }

  /** After the last run: every thread tears its modules down, as far as it can within `closeTimeout`, and ends. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#pool.threads.map(() => this.#pool.run(undefined, { name: 'teardown' })))
    await this.#pool.destroy()
  }

  #hear(context: RunContext, channel: MessagePort, message: FromThread): void {
    const answer = (id: number, said: Promise<void>) =>
      said.then(
        () => channel.postMessage({ kind: 'answer', id, refusal: undefined } satisfies ToThread),
        (error) => channel.postMessage({ kind: 'answer', id, refusal: plain(error) } satisfies ToThread),
      )
    switch (message.kind) {
      case 'progress':
        this.#link.progress(context, message.fraction, message.note)
        break
      case 'log':
        this.#link.log(context, message.lines)
        break
      case 'heartbeat':
        void answer(message.id, this.#link.heartbeat(context))
        break
      case 'checkpoint':
        void answer(message.id, this.#link.checkpoint(context, message.value))
        break
    }
  }

  #tell(context: RunContext, message: ToThread): void {
    this.#runs.get(context)?.channel.postMessage(message)
  }
}

function plain(error: unknown): { code: ErrorCode; message: string } {
  const { code, message } = refusalFrom(error)
  return { code, message }
}

/** The thread died, could not load its module, or was killed: for what the abort says, or as an error that is tried again. */
function failure({ aborted, grant: { seq, run } }: RunContext, error: unknown): Settlement {
  if (aborted instanceof WorkerStoppedError) return { op: 'giveBack', seq, run }
  const told = aborted instanceof MillraceError ? aborted : error
  return { op: 'fail', seq, run, error: runErrorOf(told) }
}
