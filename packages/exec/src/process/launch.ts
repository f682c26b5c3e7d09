/**
 * Starts a process with settings that Node itself lacks: the file mask, limits, and its end with its worker's. Each step
 * replaces itself by the next one, so that the pid stays the same. The command's words are arguments all the way, and are never
 * read as a script.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'

export interface Launch {
  readonly file: string
  readonly args: readonly string[]
}

/** Limits of the process of a command. */
export interface ProcessLimits {
  readonly cpuSeconds?: number
  readonly memoryBytes?: number
  readonly files?: number
  readonly processes?: number
}

export const SHELL = '/bin/sh'
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
/** The shell sets the two variables itself, and they are not on the command's allow-list. */
const PREPARE = 'umask "$1" && shift && unset PWD OLDPWD && exec "$@"'

/** Returns the path of a tool of the system. Does not search PATH, which is not the system's. */
export function findTool(name: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

let deathTool: readonly string[] | undefined

/** Returns words that make the kernel kill the command when its worker dies. Returns none if `setpriv` is missing or cannot do that. */
function withWorker(): readonly string[] {
  if (deathTool === undefined) {
    const setpriv = process.platform === 'linux' ? findTool('setpriv') : undefined
    const words = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']
    const [tool, ...args] = words
    deathTool = tool !== undefined && spawnSync(tool, [...args, SHELL, '-c', ':'], { stdio: 'ignore' }).status === 0 ? words : []
  }
  return deathTool
}

/** Returns a function that puts words before a command's own. @param prlimit the path of the tool, if there are limits */
export function preparationOf(umask: string, limits?: ProcessLimits, prlimit?: string): (command: Launch) => Launch {
  const limited = limits === undefined || prlimit === undefined ? [] : [prlimit, ...limitWords(limits), '--']
  const words = ['-c', PREPARE, 'sh', umask, ...withWorker(), ...limited]
  return ({ file, args }) => ({ file: SHELL, args: [...words, file, ...args] })
}

function limitWords({ cpuSeconds, memoryBytes, files, processes }: ProcessLimits): string[] {
  return [
    // SIGXCPU at the limit, and SIGKILL a second later for a process that ignores it.
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...(memoryBytes === undefined ? [] : [`--as=${memoryBytes}`]),
    ...(files === undefined ? [] : [`--nofile=${files}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
  ]
}
