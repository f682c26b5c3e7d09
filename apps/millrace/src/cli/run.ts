/** One run of the command line: parses the arguments, runs the command, and returns the exit code. */
import { assertRuntime, type Engine } from '@millrace/engine'
import { type Command, CommanderError } from 'commander'
import { EXIT, UNTIL_SIGNAL } from '../exit.ts'
import { type Host, onSignal, type SignalListener } from '../host.ts'
import { keepAlive, pause } from './clock.ts'
import { configuredTarget } from './configuredTarget.ts'
import type { Context } from './context.ts'
import { InterruptedError } from './errors.ts'
import { explain, failureOf, linesOf } from './explain.ts'
import { answerHelp, pathOf } from './help.ts'
import { Output } from './output/output.ts'
import { createProgram } from './program.ts'
import { openTarget, type Target, type TargetOptions, targetOf } from './target.ts'

/** The note is not an error, because a command takes only milliseconds. A daemon, which keeps running, rejects the flag. */
const TOKEN_SEEN = 'millrace: --token shows the token to every user of this machine, in the list of its processes: set MILLRACE_TOKEN'

/** The limit for stopping the engine of an interrupted command, which has nothing to wait for. */
const STOP = { timeout: '5s' } as const
/** The time for an interrupted command to finish opening a file or a schema, so that it is closed. One that waits for its owner is left. */
const OPEN_MS = 1_000

/** @param host `process`, or what stands for it */
export async function run(argv: readonly string[], host: Host): Promise<number> {
  const { env, stdin, stdout, stderr } = host
  const interrupted = new AbortController()
  // If an attached engine goes away, calls wait for the next one. None of them keeps a process alive.
  const letGo = keepAlive()
  // True for a worker or the daemon: their output is not their purpose.
  let endsByItself = false
  let listener: SignalListener = () => {
    // A second signal does not wait for anything.
    if (interrupted.signal.aborted) host.exit(EXIT.interrupted)
    interrupted.abort(new InterruptedError())
  }
  const out = new Output({ stdout, stderr }, (error) => {
    if (!endsByItself) interrupted.abort(out.closed ? GONE : error)
  })
  // Errors in the arguments are reported before the arguments are parsed.
  out.json = argv.includes('--json')
  let command: Command | undefined
  let engine: Promise<Engine> | undefined
  let target: Target | undefined
  let configured: TargetOptions = {}
  let exit: number = EXIT.ok
  const context: Context = {
    ...{ host, env, out, stdin },
    signal: interrupted.signal,
    takeOver: (taken) => {
      interrupted.signal.throwIfAborted()
      endsByItself = true
      listener = taken
    },
    target: () => {
      target ??= targetOf({ ...configured, ...program.opts() }, env)
      return target
    },
    exitWith: (code) => {
      exit = code
    },
    connect: async (options) => {
      interrupted.signal.throwIfAborted()
      engine ??= openTarget(context.target(), { ...options, created: (file) => !out.json && out.note(`created ${file}`) })
      return engine
    },
  }
  const program = createProgram(context)
  program.hook('preAction', async (_program, action) => {
    command = action
    out.json = program.opts()['json'] === true
    if (program.opts()['token'] !== undefined && !out.json) out.note(TOKEN_SEEN)
    // Not every command opens an engine: some would load the driver directly, and crash with it.
    assertRuntime()
    if (!readsSettings(action)) configured = await configuredTarget(program.opts(), env, process.cwd())
    // A command that was interrupted before it began does nothing.
    interrupted.signal.throwIfAborted()
  })
  // One listener for the whole run: a signal that is not delivered yet would be lost with it.
  const forget = onSignal(host, (signal) => listener(signal))
  try {
    // Output of which nobody knows whether it was written is no answer.
    const performed = perform(program, argv, out).then(() => (endsByItself ? undefined : out.flush()))
    await Promise.race([performed, rejection(interrupted.signal)])
    return exit
  } catch (error) {
    // The reader of stdout has closed it, which is no error.
    return out.closed && !endsByItself ? EXIT.ok : report(error, command, { host, out })
  } finally {
    if (engine !== undefined) await stopEngine(engine, interrupted.signal, target?.kind === 'url' ? 0 : OPEN_MS)
    forget()
    letGo()
  }
}

/** Runs the command of the arguments. Help is an answer like any other. */
async function perform(program: Command, argv: readonly string[], out: Output): Promise<void> {
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || !(await answerHelp(error, out))) throw error
  }
}

/** Reports the error of a command, and returns its exit code. A signal ends commands that run until one with 0, at their start too. */
function report(error: unknown, command: Command | undefined, { host, out }: Pick<Context, 'host' | 'out'>): number {
  const explained = explain(error, command)
  const words = command === undefined ? '' : pathOf(command).replace(/^millrace /, '')
  if (explained.exit === EXIT.interrupted && UNTIL_SIGNAL.has(words)) return EXIT.ok
  // The process that has started this one detached ends as this one does.
  if (host.env['MILLRACE_WORKER_LOG'] !== undefined) host.send?.({ failed: failureOf(error) })
  if (explained.exit !== EXIT.interrupted || out.json) out.note(linesOf(explained, out.json))
  return explained.exit
}

/** True for commands that read the whole configuration themselves. */
function readsSettings(command: Command): boolean {
  return ['serve', 'open'].includes(command.name()) || (command.name() === 'show' && command.parent?.name() === 'config')
}

/** Stops the engine of a command. An interrupted command waits only `openMs` for one that still opens, which is stopped when it has opened. */
async function stopEngine(engine: Promise<Engine>, { aborted }: AbortSignal, openMs: number): Promise<void> {
  const stopped = engine.then((opened) => opened.stop(STOP)).catch(() => {})
  const late = () => pause(openMs).then(() => 'late' as const)
  if (aborted && (await Promise.race([engine.catch(() => {}), late()])) === 'late') return
  await stopped
}

const GONE = new Error('the reader of stdout has gone')

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
