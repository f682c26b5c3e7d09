/**
 * Before any test: every file that a thread of the engine loads has its types stripped once, into Node's compile cache.
 *
 * Node strips types with a WebAssembly module, and V8 can fail its own check (`jit_page.has_value()`, a fatal error of the whole
 * process) while threads that use WebAssembly come and go: tests that kill writer threads by the dozen met it. With the cache
 * warm no thread loads that module, and each starts faster. Packed packages are JavaScript, and have no such threads.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export default function warmUp(): void {
  const script = fileURLToPath(new URL('./warm/engine.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) throw new Error(`the engine could not be warmed up: ${stderr}`)
}
