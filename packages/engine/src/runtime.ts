/** Whether this runtime can run the engine: said before anything native is loaded, instead of a crash. */
import { UnsupportedRuntimeError } from '@millrace/core'

const NODE_MIN = [22, 14] as const

/**
 * Whether the engine works here: `openEngine` asks by itself. For programs that load the SQLite driver before, or want to say so early.
 *
 * @param versions of the runtime; `process.versions` unless stated
 * @throws UnsupportedRuntimeError on Node before 22.14, on Bun and on Deno, naming what would do
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
