/** The Python of this machine, and programs that are written in it. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from '../program.ts'

/** True if there is a Python that the client runs on. */
export const HAS_PYTHON = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']).status === 0
/** The folder of the client and of its own tests. */
export const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url))

interface PythonOptions {
  /** Default: the client's folder. */
  readonly cwd?: string
  /** PYTHONPATH. */
  readonly path?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command in the client's folder, and leaves no compiled files there. */
export function runPython(command: string, args: readonly string[], options: PythonOptions = {}) {
  const { cwd = CLIENT, path } = options
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...(path !== undefined && { PYTHONPATH: path }), ...options.env }
  return spawnSync(command, args, { cwd, encoding: 'utf8', env })
}

/** Starts a program of `programs`. `sh` drops the Node that `startProgram` would run. */
export function startPython(name: string, ...args: string[]): Program {
  return startProgram(new URL(`./programs/${name}.py`, import.meta.url), args, ['sh', '-c', 'shift; exec python3 -u "$@"', 'sh'])
}
