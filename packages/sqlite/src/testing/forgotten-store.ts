/** Opens a store, drops it, collects garbage, and prints how a second opening ends: `node --expose-gc forgotten-store.ts <file>`. */
import { MillraceError } from '@millrace/core'
import { openStore } from '../open-store.ts'

const options = { file: process.argv[2] as string, durability: 'normal' as const, random: () => 0.25, now: 1, host: 'h', pid: process.pid }

openStore(options)
for (let round = 0; round < 5; round++) {
  globalThis.gc?.()
  await new Promise((resolve) => setImmediate(resolve))
}
try {
  openStore(options)
  process.stdout.write('opened')
} catch (error) {
  process.stdout.write(error instanceof MillraceError ? error.code : String(error))
}
