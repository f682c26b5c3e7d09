/** Runs a command once: starts it, reads its output, ends all that it has started, and reports the result. */
import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { NonRetryableError } from '@millrace/core'
import { type Context, systemClock } from '@millrace/worker'
import { START_BYTES } from './command/bounds.ts'
import type { Command } from './command/command.ts'
import { fillTemplate } from './command/template.ts'
import { dataVariables, jobVariables } from './command/variables.ts'
import { badArgs, CommandFailedError, type Ending } from './errors.ts'
import type { LogFolder, RunFiles } from './logs/folder.ts'
import { type Captured, Excerpt, jsonBytes } from './output/excerpt.ts'
import { Hearing } from './output/hearing.ts'
import { lastLines, lastText } from './output/lines.ts'
import { ProcessGroup } from './process/group.ts'

/** The output of a job that ran a command. */
export interface ExecOutput {
  readonly exitCode: number
  /** Always null in an output: a command that a signal has ended has failed. */
  readonly signal: null
  readonly stdout: Captured
  readonly stderr: Captured
  readonly durationMs: number
  /** The file with the end of the log, on the machine of the worker. Earlier output is beside it: `.1.log` has the beginning. */
  readonly logFile?: string
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

/** The bytes of the output that are reserved for everything but the command's own output. */
const REST_BYTES = 1_024
const MESSAGE_LENGTH = 2_000
const LINES = 20

export async function runCommand(command: Command, context: Context, folder: LogFolder | undefined): Promise<ExecOutput> {
  const { data, job, signal } = context
  const args = fillTemplate(command.template, data)
  const env = { ...command.env, ...jobVariables(job), ...(command.variables && dataVariables(data)) }
  checkSize(args, env)
  const files = await filesOf(folder, context)
  try {
    signal.throwIfAborted()
    const share = Math.floor((command.maxOutputBytes - REST_BYTES - jsonBytes(files?.log.path ?? '')) / 4)
    const told = { stdout: new Excerpt(share), stderr: new Excerpt(share) }
    const startedMono = systemClock.read().mono
    const ending = await runProcess(command, context, { args, env, files, ...told })
    const outcome = {
      ...ending,
      stdout: told.stdout.captured(),
      stderr: told.stderr.captured(),
      durationMs: Math.round(systemClock.read().mono - startedMono),
      ...(files !== undefined && { logFile: files.log.path }),
    }
    if (files?.log.failure !== undefined) context.log('warn', `the log ends early: ${files.log.failure.message}`)
    const { exitCode } = ending
    if (!signal.aborted && exitCode !== null && command.isSuccess(exitCode)) return { ...outcome, exitCode, signal: null }
    throw failureOf(command, context, outcome)
  } finally {
    await files?.over().catch((error) => context.log('warn', `the folder of the logs could not be tidied: ${String(error)}`))
  }
}

function checkSize(args: readonly string[], env: Readonly<Record<string, string>>): void {
  const variables = Object.entries(env).reduce((bytes, [name, text]) => bytes + name.length + Buffer.byteLength(text) + 2, 0)
  const bytes = args.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, variables)
  if (bytes <= START_BYTES) return
  throw badArgs(`the arguments and variables have ${bytes} bytes together, and at most ${START_BYTES}: hand the data over by stdin`)
}

/** Opens the log. If that fails, the command is not started; the next attempt may succeed. */
async function filesOf(folder: LogFolder | undefined, { job }: Context): Promise<RunFiles | undefined> {
  try {
    return await folder?.begin(job)
  } catch (cause) {
    const message = `the command '${job.name}' was not started, since its log could not be: ${String(cause)}`
    throw new CommandFailedError(message, { exitCode: null, signal: null }, { cause })
  }
}

interface Start {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: RunFiles | undefined
  readonly stdout: Excerpt
  readonly stderr: Excerpt
}

/** Resolves when nothing of the command runs any more, and all of its output is kept. */
async function runProcess(command: Command, { data, job, signal, log }: Context, start: Start): Promise<Ending> {
  const { stdin, cwd, uid, gid, killGraceMs } = command
  const { file, args } = command.launch(start.args)
  const child = startProcess(job.name, file, args, {
    cwd,
    env: start.env,
    shell: false,
    // A session and a group of its own, so that it is ended as a whole.
    detached: true,
    stdio: [stdin === 'data' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  })
  const exited = new Promise<Ending>((resolve, reject) => {
    child.once('exit', (exitCode, name) => resolve({ exitCode, signal: name }))
    child.once('error', reject)
  })
  if (child.pid === undefined) throw notStarted(job.name, await exited.catch((error: unknown) => error))
  const group = new ProcessGroup(child.pid, killGraceMs)
  const end = () => group.end()
  signal.addEventListener('abort', end, { once: true })
  const unrecorded = recorded(start.files, child.pid)
  if (unrecorded !== undefined) end()
  // A command may end without reading all of it.
  child.stdin?.on('error', () => {}).end(data instanceof Uint8Array ? data : JSON.stringify(data ?? null))
  const { stdout, stderr } = start
  const outputs = [
    { stream: child.stdout, excerpt: stdout },
    { stream: child.stderr, excerpt: stderr },
  ]
  const hearing = new Hearing(outputs, start.files?.log)
  try {
    const ending = await exited
    await group.gone()
    await hearing.over(() =>
      log('warn', 'a process that has left the group of the command holds its output open: what it says from now on is not kept'),
    )
    if (unrecorded !== undefined) throw new CommandFailedError(unrecorded, ending)
    return ending
  } finally {
    signal.removeEventListener('abort', end)
    child.stdin?.destroy()
  }
}

/** Returns why the group could not be recorded. Such a command must end, because nothing would find it after a crash. */
function recorded(files: RunFiles | undefined, pid: number): string | undefined {
  try {
    files?.started(pid)
    return undefined
  } catch (error) {
    return `the command was ended, since it could not be recorded: ${String(error)}`
  }
}

/** Starts a process. Some failures are thrown here, and some arrive later as an event. */
function startProcess(name: string, file: string, args: readonly string[], options: SpawnOptions): Child {
  try {
    return spawn(file, args, options) as Child
  } catch (error) {
    throw notStarted(name, error)
  }
}

function notStarted(name: string, cause: unknown): CommandFailedError {
  return new CommandFailedError(`the command '${name}' could not be started: ${String(cause)}`, { exitCode: null, signal: null }, { cause })
}

interface Outcome extends Ending {
  readonly stdout: Captured
  readonly stderr: Captured
  readonly durationMs: number
  readonly logFile?: string
}

/** Returns the error of a run. A failed job has no output: its error and log have the ending and the last lines. */
function failureOf(command: Command, { signal, log }: Context, { stdout, stderr, ...facts }: Outcome): Error {
  const { exitCode, signal: name } = facts
  const how = name === null ? `has ended with exit code ${exitCode}` : `was ended by ${name}`
  const why = signal.aborted ? ` after its abort (${(signal.reason as Error).name})` : ''
  for (const line of lastLines(stdout, LINES)) log('info', line, { stream: 'stdout' })
  for (const line of lastLines(stderr, LINES)) log('error', line, { stream: 'stderr' })
  log('error', `the command ${how}${why}`, { ...facts, stdoutBytes: stdout.bytes, stderrBytes: stderr.bytes })
  const output = lastText(stderr, MESSAGE_LENGTH)
  const message = `the command '${command.name}' ${how}${why}${output === '' ? '' : `: ${output}`}`
  const cause = signal.aborted ? { cause: signal.reason } : undefined
  const error = new CommandFailedError(message, facts, cause)
  const isHopeless = !signal.aborted && exitCode !== null && !command.isRetried(exitCode)
  return isHopeless ? new NonRetryableError(message, { cause: error }) : error
}
