/** Runs in a pool's thread: loads a handler's module once, and runs it with the same context as on the main thread. */
import { type Data, errorFrom } from '@millrace/core'
import { systemClock } from '../clock.ts'
import { RunContext, type RunLink } from '../context.ts'
import { execute, type Settlement } from '../execute.ts'
import { runErrorOf } from '../runError.ts'
import type { FromThread, ThreadTask, ToThread } from './messages.ts'

type HandlerModule = {
  readonly handler?: (context: RunContext) => unknown
  readonly default?: (context: RunContext) => unknown
  readonly setup?: () => unknown
  readonly teardown?: () => unknown
}

const MODULES = new Map<string, Promise<HandlerModule>>()

export async function run(task: ThreadTask): Promise<Settlement> {
  const { channel, grant, maxDataBytes, checked, url } = task
  const asked = new Map<number, { resolve: () => void; reject: (error: Error) => void }>()
  let nextId = 1
  const say = (message: FromThread) => channel.postMessage(message)
  const ask = (kind: 'heartbeat' | 'checkpoint', value: Data) =>
    new Promise<void>((resolve, reject) => {
      const id = nextId++
      asked.set(id, { resolve, reject })
      say(kind === 'heartbeat' ? { kind, id } : { kind, id, value })
    })
  const link: RunLink = {
    maxDataBytes,
    heartbeat: () => ask('heartbeat', null),
    checkpoint: (_, value) => ask('checkpoint', value),
    dirty: flush,
    now: () => systemClock.read().wall,
  }
  const context = new RunContext(grant, link)
  channel.on('message', (message: ToThread) => {
    if (message.kind === 'abort') {
      context.abort(errorFrom(message))
      return
    }
    const waiting = asked.get(message.id)
    asked.delete(message.id)
    if (message.refusal === undefined) waiting?.resolve()
    else waiting?.reject(errorFrom(message.refusal))
  })

  function flush(): void {
    const progress = context.takeProgress()
    if (progress !== undefined) say({ kind: 'progress', fraction: progress[0], note: progress[1] })
    const lines = context.takeLines()
    if (lines !== undefined) say({ kind: 'log', lines })
  }

  try {
    const handler = handlerOf(await loadOrEnd(url, say), url)
    return await new Promise<Settlement>((resolve) => {
      const runnable = { schema: undefined, backoff: undefined, run: handler }
      execute(runnable, context, maxDataBytes, resolve, checked)
    })
  } finally {
    // Closed from the other side, once what was said has been taken.
    channel.unref()
  }
}

/** Once per thread, when the pool ends. */
export async function teardown(): Promise<void> {
  for (const module of MODULES.values()) await (await module).teardown?.()
}

/** A module whose loading failed stays failed for as long as its thread lives: the thread says why, and ends. */
async function loadOrEnd(url: string, say: (message: FromThread) => void): Promise<HandlerModule> {
  try {
    return await load(url)
  } catch (error) {
    say({ kind: 'loadFailed', error: runErrorOf(error) })
    return process.exit(1)
  }
}

function load(url: string): Promise<HandlerModule> {
  let module = MODULES.get(url)
  if (module === undefined) {
    module = start(url)
    MODULES.set(url, module)
  }
  return module
}

async function start(url: string): Promise<HandlerModule> {
  const module: HandlerModule = await import(url)
  await module.setup?.()
  return module
}

function handlerOf(module: HandlerModule, url: string): (context: RunContext) => unknown {
  const handler = module.handler ?? module.default
  if (typeof handler === 'function') return handler
  throw new TypeError(`the handler module ${url} exports no function named 'handler', and no default function`)
}
