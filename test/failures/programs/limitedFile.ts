/** Enqueues until the system lets no file grow any further, and on for a while: `limitedFile.ts <file>` under `ulimit -f`. */
import { MillraceError, openEngine } from '@millrace/engine'

const engine = await openEngine({ file: process.argv[2] as string })
for (let errors = 0; errors < 10; ) {
  try {
    process.stdout.write(`ok ${(await engine.enqueue('a', 'x'.repeat(20_000))).id}\n`)
  } catch (error) {
    errors++
    process.stdout.write(`${error instanceof MillraceError ? error.code : String(error)}\n`)
  }
}
await engine.stop()
