/** A pool of threads for handlers that are modules. A thread that ignores an abort beyond its grace is killed, and replaced. */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type Clock, MillraceError, type ParentsPage, type RunError, refusalFrom, WorkerStoppedError } from '@millrace/core'
import type { Piscina } from 'piscina'
import type { RunContext, RunLink } from '../context.ts'
import type { Settlement } from '../execute.ts'
import { runErrorOf } from '../runError.ts'
import type { ThreadHandler } from './handler.ts'
import type { FromThread, ThreadTask, ToThread } from './messages.ts'
import { threadFile, threadOptions } from './start.ts'

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>

interface ThreadRun {
  readonly channel: MessagePort
  readonly killer: AbortController
  /** The error that kept the module from loading. Its thread ends, so that a bad one does not stay in the pool. */
  loadError: RunError | undefined
}

/** The time that modules may take to tear down before their threads are ended. */
const TEARDOWN_MS = 5_000

export class ThreadPool {
  readonly #url: string
  readonly #threads: number
  readonly #pool: Promise<Piscina>
  readonly #link: RunLink
  readonly #clock: Clock
  readonly #runs = new Map<RunContext, ThreadRun>()
  /**
   * Runs that wait for a thread, in order, with the function that starts or refuses them. They wait here and not in the
   * pool, so that they can be given back.
   */
  readonly #queue = new Map<RunContext, (start: boolean) => void>()
  #free: number
  #held = false

  constructor({ url, settings: { threads, prefetch: _prefetch, ...settings } }: ThreadHandler, link: RunLink, clock: Clock) {
    this.#url = url
    this.#threads = threads
    this.#free = threads
    this.#link = link
    this.#clock = clock
    this.#pool = openPool(threadFile('millrace-thread', import.meta.url), {
      name: 'run',
      minThreads: threads,
      maxThreads: threads,
      // Timers, sockets and anything else that `setup` starts continue between runs.
      atomics: 'disabled',
      ...threadOptions(),
      ...(settings as Pick<PiscinaOptions, 'resourceLimits' | 'execArgv' | 'env'>),
    })
    // Every run reports it.
    this.#pool.catch(() => {})
  }

  /** Runs the job in a thread as soon as one is free; never rejects. */
  async run(context: RunContext, checked: ThreadTask['checked']): Promise<Settlement> {
    const entered = await this.#enter(context)
    // It may have been aborted in between.
    if (entered && context.aborted !== undefined) this.#leave()
    if (!entered || context.aborted !== undefined) return failure(context, undefined, new WorkerStoppedError('given back unstarted'))
    const { port1, port2 } = new MessageChannel()
    const run: ThreadRun = { channel: port1, killer: new AbortController(), loadError: undefined }
    this.#runs.set(context, run)
    port1.on('message', (message: FromThread) => this.#hear(context, run, message))
    const task: ThreadTask = { url: this.#url, grant: context.grant, checked, maxDataBytes: this.#link.maxDataBytes, channel: port2 }
    try {
      const pool = await this.#pool
      return await pool.run(task, { transferList: [port2], signal: run.killer.signal }).finally(() => this.#drainChannel(context, run))
    } catch (error) {
      return failure(context, run.loadError, error)
    } finally {
      this.#runs.delete(context)
      port1.close()
      this.#leave()
    }
  }

  /** While held, gives back the runs that wait for a thread, and those that come. */
  hold(isHeld: boolean): void {
    this.#held = isHeld
    if (!isHeld) return
    const waiting = [...this.#queue.values()]
    this.#queue.clear()
    for (const tell of waiting) tell(false)
  }

  abort(context: RunContext, reason: Error): void {
    this.#turnAway(context)
    const { code, message } = refusalFrom(reason)
    this.#runs.get(context)?.channel.postMessage({ kind: 'abort', code, message } satisfies ToThread)
  }

  kill(context: RunContext): void {
    this.#turnAway(context)
    this.#runs.get(context)?.killer.abort()
  }

  /** Closes the pool after the last run: the modules tear down within `ms`, at most 5 s, and the threads end. */
  async close(ms: number = TEARDOWN_MS): Promise<void> {
    const pool = await this.#pool.catch(() => undefined)
    if (pool === undefined) return
    const torn = Promise.allSettled(Array.from({ length: this.#threads }, () => pool.run(undefined, { name: 'teardown' })))
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimer(Math.min(ms, TEARDOWN_MS), resolve)
      void torn.then(() => {
        cancel()
        resolve()
      })
    })
    await pool.destroy()
  }

  /** Refuses a run that waits for a thread. */
  #turnAway(context: RunContext): void {
    const tell = this.#queue.get(context)
    this.#queue.delete(context)
    tell?.(false)
  }

  #enter(context: RunContext): Promise<boolean> {
    if (this.#held) return Promise.resolve(false)
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(true)
    }
    return new Promise((resolve) => this.#queue.set(context, resolve))
  }

  /** Gives the thread to the next in line. */
  #leave(): void {
    for (const [context, tell] of this.#queue) {
      this.#queue.delete(context)
      tell(true)
      return
    }
    this.#free++
  }

  /** Takes the remaining messages: the result may overtake them, on another channel. */
  #drainChannel(context: RunContext, run: ThreadRun): void {
    for (let received = receiveMessageOnPort(run.channel); received !== undefined; received = receiveMessageOnPort(run.channel)) {
      this.#hear(context, run, received.message)
    }
  }

  #hear(context: RunContext, run: ThreadRun, message: FromThread): void {
    const answer = (id: number, said: Promise<unknown>) =>
      said.then(
        (page) =>
          run.channel.postMessage({ kind: 'answer', id, page: page as ParentsPage | undefined, refusal: undefined } satisfies ToThread),
        (error) => run.channel.postMessage({ kind: 'answer', id, refusal: refusalFrom(error) } satisfies ToThread),
      )
    switch (message.kind) {
      case 'progress':
        context.report(message.progress)
        break
      case 'log':
        context.addLines(message.lines)
        break
      case 'complaint':
        context.complain(message.message)
        break
      case 'heartbeat':
        void answer(message.id, this.#link.heartbeat(context))
        break
      case 'checkpoint':
        void answer(message.id, this.#link.checkpoint(context, message.value))
        break
      case 'parents':
        void answer(message.id, this.#link.parents(context, message.after))
        break
      case 'loadFailed':
        run.loadError = message.error
        break
    }
  }
}

/** Opens a pool. Piscina is loaded late: in a bundle, it would throw before anything could say what to do about bundles. */
async function openPool(file: URL, options: PiscinaOptions): Promise<Piscina> {
  const { Piscina } = await import('piscina')
  const pool = new Piscina({ ...options, filename: file.href })
  // A thread that dies without a run has nobody to report to: the pool replaces it, and the run that hits it fails with an error.
  pool.on('error', () => {})
  return pool
}

/**
 * Returns the end of a run that was not started, died, could not load its module, or was killed: as the abort says, or as
 * an error that is retried.
 */
function failure({ aborted, grant: { seq, run } }: RunContext, loadError: RunError | undefined, error: unknown): Settlement {
  const told = aborted instanceof MillraceError ? aborted : error
  if (told instanceof WorkerStoppedError) return { op: 'giveBack', seq, run }
  return { op: 'fail', seq, run, error: loadError ?? runErrorOf(told) }
}
