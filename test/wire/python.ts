/** The Python of this machine, and programs that are written in it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AtEnd, type Program, startProgram } from '../program.ts'

/** The folder of the client and of its own tests. */
export const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url))
/** Each process loads what is compiled here, and leaves nothing in the client's folder. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/python', import.meta.url))
const COMPILE = 'import compileall, sys; sys.exit(sys.version_info < (3, 8) or not compileall.compile_dir(sys.argv[1], quiet=1))'
/** True if there is a Python that the client runs on. */
export const HAS_PYTHON =
  spawnSync('python3', ['-S', '-c', COMPILE, join(CLIENT, 'millrace')], { env: { ...process.env, PYTHONPYCACHEPREFIX: COMPILED } })
    .status === 0

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
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPYCACHEPREFIX: COMPILED,
    ...(path !== undefined && { PYTHONPATH: path }),
    ...options.env,
  }
  return spawnSync(command, args, { cwd, encoding: 'utf8', env })
}

/** Starts a program of `programs`, which needs no site-packages. `sh` drops the Node that `startProgram` would run. */
export function startPython(name: string, ...args: string[]): Program {
  return startPythonUntil(undefined, name, ...args)
}

/** Does the same, for a program that outlives the test. */
export function startPythonUntil(atEnd: AtEnd | undefined, name: string, ...args: string[]): Program {
  return startProgram(
    new URL(`./programs/${name}.py`, import.meta.url),
    args,
    ['env', `PYTHONPYCACHEPREFIX=${COMPILED}`, ...['sh', '-c', 'shift; exec python3 -S -u "$@"', 'sh']],
    atEnd,
  )
}
