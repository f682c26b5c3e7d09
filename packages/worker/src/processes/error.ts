/** The error of a run whose child process has died. */

/** Thrown for the run of a child process that has ended. `code` is the signal that ended it, or its exit code. */
export class ChildProcessError extends Error {
  override readonly name = 'ChildProcessError'
  readonly code: string | number

  constructor(pid: number | undefined, exitCode: number | null, signal: NodeJS.Signals | null, memoryLimit: number | undefined) {
    const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`
    super(`process ${pid} of the handler ${how} before the run had ended${hintOf(exitCode, signal, memoryLimit)}`)
    this.code = signal ?? exitCode ?? 'UNKNOWN'
  }
}

/** Returns the likely reason: Node aborts when its heap is full, and a system that is short of memory kills. */
function hintOf(exitCode: number | null, signal: NodeJS.Signals | null, memoryLimit: number | undefined): string {
  if (signal === 'SIGABRT' || exitCode === ABORTED)
    return memoryLimit === undefined ? ': its heap may be full' : `: its heap may be full, with a memoryLimit of ${memoryLimit} MiB`
  return signal === 'SIGKILL' ? ': the system may be short of memory' : ''
}

/** 128 + SIGABRT, which a shell in between, or Windows, reports in place of the signal. */
const ABORTED = 134
