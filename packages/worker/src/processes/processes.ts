/**
 * The child processes of a pool. One starts with the first run that finds none free, and stays for the next. A process that dies takes its
 * run with it, and no other.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock, ProcessSettings } from '@millrace/core'
import type { ProcessHandler } from '../pools/handler.ts'
import type { FromRun, Task } from '../pools/messages.ts'
import type { Places, StartedRun } from '../pools/places.ts'
import type { Settlement } from '../settlement.ts'
import { threadFile } from '../threads/start.ts'
import { within } from '../within.ts'
import { ChildProcessError } from './error.ts'
import type { FromProcess, ToProcess } from './messages.ts'

export const runProcessFile = (): URL => threadFile('millrace-process', import.meta.url)

interface ProcessRun {
  readonly number: number
  readonly hear: (message: FromRun) => void
  readonly settle: (settlement: Settlement) => void
  readonly fail: (error: Error) => void
}

interface Child {
  readonly process: ChildProcess
  readonly closed: Promise<void>
  run: ProcessRun | undefined
}

export class Processes implements Places {
  readonly #settings: ProcessSettings
  readonly #clock: Clock
  readonly #children = new Set<Child>()
  #runs = 0

  constructor({ settings }: ProcessHandler, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  start(task: Task, hear: (message: FromRun) => void): StartedRun {
    const child = [...this.#children].find(isFree) ?? this.#fork()
    const number = ++this.#runs
    // Data that cannot be sent is refused here, and leaves the process as it is.
    send(child, { kind: 'start', run: number, task })
    hold(child)
    const { promise: ended, resolve: settle, reject: fail } = Promise.withResolvers<Settlement>()
    child.run = { number, hear, settle, fail }
    const isCurrent = () => child.run?.number === number
    return {
      ended,
      say: (message) => {
        if (isCurrent()) send(child, { kind: 'message', run: number, message })
      },
      kill: () => {
        if (isCurrent()) child.process.kill('SIGKILL')
      },
    }
  }

  async close(ms: number): Promise<void> {
    const children = [...this.#children]
    const closed = Promise.all(children.map((child) => child.closed))
    for (const child of children) send(child, { kind: 'end' })
    await within(this.#clock, ms, closed)
    for (const child of this.#children) child.process.kill('SIGKILL')
    await closed
  }

  #fork(): Child {
    const { memoryLimit, env } = this.#settings
    const spawned = fork(fileURLToPath(runProcessFile()), [], {
      execArgv: nodeOptions(this.#settings),
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      ...(env !== undefined && { env: { ...env } }),
    })
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const child: Child = { process: spawned, closed, run: undefined }
    this.#children.add(child)
    const gone = (error: Error) => {
      this.#children.delete(child)
      child.run?.fail(error)
      child.run = undefined
      close()
    }
    spawned.on('message', (message: FromProcess) => hear(child, message))
    // What it has said before its end is heard by then.
    spawned.on('close', (code, signal) => gone(new ChildProcessError(spawned.pid, code, signal, memoryLimit)))
    spawned.on('error', (error) => {
      // Any other error is one of a message to a process that is about to be gone.
      if (spawned.pid === undefined) gone(error)
    })
    return child
  }
}

function isFree({ process: { connected, exitCode, signalCode, killed }, run }: Child): boolean {
  return run === undefined && connected && exitCode === null && signalCode === null && !killed
}

function hear(child: Child, message: FromProcess): void {
  const { run } = child
  if (message.kind === 'crashed') run?.hear({ kind: 'fatal', error: message.error })
  else if (run === undefined || run.number !== message.run) return
  else if (message.kind === 'message') run.hear(message.message)
  else {
    child.run = undefined
    letGo(child)
    run.settle(message.settlement)
  }
}

function send({ process }: Child, message: ToProcess): void {
  // A process that cannot hear it any more is gone, which its end reports.
  if (process.connected) process.send(message, () => {})
}

/** Keeps this process alive for a run. */
function hold({ process }: Child): void {
  process.ref()
  process.channel?.ref()
}

/** Lets this process end beside a child that runs nothing. */
function letGo({ process }: Child): void {
  process.unref()
  process.channel?.unref()
}

/** Flags that are about the program of this process, or that two processes cannot share. */
const OWN_FLAG = /^--(?:input-type|inspect)/
const OWN_CODE: ReadonlySet<string> = new Set(['-e', '--eval', '-p', '--print', '-pe'])

function nodeOptions({ execArgv, memoryLimit }: ProcessSettings): string[] {
  const inherited = process.execArgv.filter(
    (flag, index, flags) => !OWN_FLAG.test(flag) && !OWN_CODE.has(flag) && !OWN_CODE.has(flags[index - 1] ?? ''),
  )
  return [...(execArgv ?? inherited), ...(memoryLimit === undefined ? [] : [`--max-old-space-size=${memoryLimit}`])]
}
