/** An engine in memory with a worker that allows some commands, for as long as a test. */
import { type Engine, type Job, openEngine, type Worker, type WorkOptions } from '@millrace/engine'
import { type CommandSpec, type ExecOptions, type ExecOutput, execHandlers } from '@millrace/exec'
import { afterAll, onTestFinished } from 'vitest'

export interface EndedJob extends Job {
  readonly output: ExecOutput | undefined
}

export interface Bench {
  readonly engine: Engine
  readonly worker: Worker
  /** Runs a job of the name to its end. */
  run(name: string, data?: unknown): Promise<EndedJob>
}

export async function startBench(
  commands: Readonly<Record<string, CommandSpec>>,
  options: ExecOptions = {},
  work: WorkOptions = {},
): Promise<Bench> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const worker = engine.work(execHandlers(commands, options), work)
  return {
    engine,
    worker,
    run: (name, data) => runIn(engine, name, data),
  }
}

/**
 * Shares one engine among the tests of a file. Each test has a queue of its own, and its worker is gone with it.
 *
 * @returns what starts the worker of a test
 */
export function shareEngine(): (
  commands: Readonly<Record<string, CommandSpec>>,
  options?: ExecOptions,
  work?: WorkOptions,
) => Promise<Pick<Bench, 'run'>> {
  let engine: Promise<Engine> | undefined
  let benches = 0
  afterAll(async () => (await engine)?.stop({ timeout: 0 }))
  return async (commands, options = {}, work = {}) => {
    engine ??= openEngine({ file: ':memory:' })
    const opened = await engine
    benches += 1
    const queue = `bench-${benches}`
    const worker = opened.work(execHandlers(commands, options), { ...work, queues: [queue] })
    onTestFinished(() => worker.stop({ timeout: 0 }))
    return { run: (name, data) => runIn(opened, name, data, queue) }
  }
}

async function runIn(engine: Engine, name: string, data: unknown, queue = 'default'): Promise<EndedJob> {
  const handle = await engine.enqueue(name, data, { maxAttempts: 1, queue })
  await handle.result().catch(() => {})
  return (await engine.get(handle.id)) as EndedJob
}

/** A command that runs a program of Node, given as text. */
export function nodeCommand(program: string, more: Omit<CommandSpec, 'file'> = {}): CommandSpec {
  return { ...more, file: process.execPath, args: ['-e', { literal: program }, '--', ...(more.args ?? [])] }
}

/** A script of the shell. */
export function script(text: string, more: Omit<CommandSpec, 'file' | 'shell'> = {}): CommandSpec {
  return { ...more, file: text, shell: true }
}
