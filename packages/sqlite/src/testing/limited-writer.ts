/**
 * Writes until the system lets the log grow no further, reopens, and prints what happened: `node limited-writer.ts <file>` under
 * `ulimit -f`.
 */
import { StoreFailure } from '@millrace/core/kernel'
import { sqliteCode } from '../driver.ts'
import { openStore } from '../open-store.ts'
import { Turns } from './jobs.ts'

const store = openStore({ file: process.argv[2] as string, durability: 'full', random: () => 0.25, now: 1, host: 'h', pid: process.pid })
const turns = new Turns(store)
let acknowledged = 0
try {
  for (;;) {
    for (let job = 0; job < 20; job++) turns.insert({ data: JSON.stringify('x'.repeat(4_000)) })
    turns.commit()
    acknowledged = turns.nextSeq - 1
  }
} catch (error) {
  if (!(error instanceof StoreFailure)) throw error
  store.reopen()
  const kept = store.load().nextSeq - 1
  process.stdout.write(JSON.stringify({ phase: error.phase, reason: error.reason, code: sqliteCode(error.cause), acknowledged, kept }))
}
