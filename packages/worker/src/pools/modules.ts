/** Runs in the place of a pool: loads a handler's module once, and runs it with the same context as on the main thread. */
import { errorFrom } from '@millrace/core'
import { systemClock } from '../clock.ts'
import { RunContext, type RunLink } from '../context.ts'
import { execute } from '../execute.ts'
import { runErrorOf } from '../runError.ts'
import type { Settlement } from '../settlement.ts'
import { BoundedReports } from './boundedReports.ts'
import type { FromRun, Task, ToRun } from './messages.ts'

type HandlerModule = {
  readonly handler?: (context: RunContext) => unknown
  readonly default?: (context: RunContext) => unknown
  readonly setup?: () => unknown
  readonly teardown?: () => unknown
}

/** The way from a run to its worker. */
export interface Channel {
  say(message: FromRun): void
  /** Sends the last message of this place, and ends the place. */
  sayLast(message: FromRun): Promise<never>
  /** Sets the listener for messages to the run. */
  listen(listener: (message: ToRun) => void): void
}

const MODULES = new Map<string, Promise<HandlerModule>>()

export async function runTask({ grant, maxDataBytes, replaysAlways, checked, url }: Task, channel: Channel): Promise<Settlement> {
  const asked = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let nextId = 1
  const ask = <Answer>(message: (id: number) => FromRun) =>
    new Promise<Answer>((resolve, reject) => {
      const id = nextId++
      asked.set(id, { resolve: resolve as (value: unknown) => void, reject })
      channel.say(message(id))
    })
  const link: RunLink = {
    maxDataBytes,
    heartbeat: () => ask((id) => ({ kind: 'heartbeat', id })),
    checkpoint: (_, value) => ask((id) => ({ kind: 'checkpoint', id, value })),
    parents: (_, after, until) => ask((id) => ({ kind: 'parents', id, after, until })),
    dirty: () => reports.note(),
    complained: (_, mistake, message) => channel.say({ kind: 'complaint', mistake, message }),
    now: () => systemClock.read().wall,
    setTimer: (ms, call) => systemClock.setTimer(ms, call),
    steps: () => ({
      recorded: () => ask((id) => ({ kind: 'recorded', id })),
      step: (result) => ask((id) => ({ kind: 'step', id, result })),
      wait: (waits, settled, end) => ask((id) => ({ kind: 'wait', id, waits, settled, end })),
    }),
    ...(replaysAlways && { replay: { always: true, strayed: new Set(), planned() {} } }),
  }
  const context = new RunContext(grant, link)
  channel.listen((message) => {
    if (message.kind === 'abort') {
      context.abort(errorFrom(message))
      return
    }
    if (message.kind === 'leave') {
      context.leave()
      return
    }
    if (message.kind === 'messaged') {
      context.messaged()
      return
    }
    const waiting = asked.get(message.id)
    asked.delete(message.id)
    if (message.refusal === undefined) waiting?.resolve(message.value)
    else waiting?.reject(errorFrom(message.refusal))
  })
  const reports = new BoundedReports(context, (message) => channel.say(message))
  const handler = handlerOf(await loadOrEnd(url, channel), url)
  return new Promise<Settlement>((resolve) => {
    const runnable = { schema: undefined, backoff: undefined, run: handler }
    const settled = (settlement: Settlement) => {
      reports.flush()
      resolve(settlement)
    }
    execute(runnable, context, maxDataBytes, settled, checked)
  })
}

/** Runs when the pool ends. A place may be asked twice, but its modules tear down once. */
export async function teardown(): Promise<void> {
  const modules = [...MODULES.values()]
  MODULES.clear()
  for (const module of modules) await (await module).teardown?.()
}

/** Loads a module. If that fails, the module stays failed for the life of the place, so the place reports why, and ends. */
async function loadOrEnd(url: string, channel: Channel): Promise<HandlerModule> {
  try {
    return await load(url)
  } catch (error) {
    return channel.sayLast({ kind: 'fatal', error: runErrorOf(error) })
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
  const module: HandlerModule = await import(/* webpackIgnore: true */ /* @vite-ignore */ url)
  await module.setup?.()
  return module
}

function handlerOf(module: HandlerModule, url: string): (context: RunContext) => unknown {
  const handler = module.handler ?? module.default
  if (typeof handler === 'function') return handler
  throw new TypeError(`the handler module ${url} exports no function named 'handler', and no default function`)
}
