/** Checks if this runtime can run the engine, before anything native is loaded and could crash. */
import { UnsupportedRuntimeError } from '@millrace/core'

const NODE_MIN = [22, 14] as const

/**
 * Checks if the engine works here; `openEngine` does so automatically. It is for programs that load the SQLite driver
 * first, or want to report the problem early.
 *
 * @param versions the versions of the runtime; default `process.versions`
 * @throws UnsupportedRuntimeError on Node before 22.14, on Bun and on Deno, naming what would work
 */
export function assertRuntime(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  const remedy = `run it on Node ${NODE_MIN.join('.')} or newer, or Electron with such a Node`
  if (versions['bun'] !== undefined) {
    throw new UnsupportedRuntimeError(
      `the engine does not run on Bun ${versions['bun']}: its SQLite driver (better-sqlite3) needs Node's own native interface; ${remedy}`,
    )
  }
  if (versions['deno'] !== undefined) {
    throw new UnsupportedRuntimeError(
      `the engine does not run on Deno ${versions['deno']}: its writer thread needs Node's worker_threads and native add-ons; ${remedy}`,
    )
  }
  const [major = 0, minor = 0] = (versions['node'] ?? '0').split('.').map(Number)
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return
  throw new UnsupportedRuntimeError(
    `the engine does not run on Node ${versions['node']}, where its SQLite driver crashes the process; ${remedy}`,
  )
}

/**
 * Checks if the SQLite driver works here. It compiles a function for each statement with rows.
 *
 * @param compile compiles a string; default `Function`
 * @throws UnsupportedRuntimeError
 */
export function assertDriver(compile: (code: string) => unknown = Function): void {
  try {
    compile('')
  } catch (cause) {
    const message =
      'the engine cannot open a file under --disallow-code-generation-from-strings, because its SQLite driver compiles functions: start Node without this flag, and remove it from NODE_OPTIONS'
    throw new UnsupportedRuntimeError(message, {}, { cause })
  }
}
