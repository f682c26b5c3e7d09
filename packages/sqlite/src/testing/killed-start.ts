/**
 * Opens a file and is killed before its n-th call to the system or to SQLite: `node killed-start.ts <file> <n>`. Prints the
 * number of its calls if it gets to the end.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'

const [file, last] = process.argv.slice(2) as [string, string]
let calls = 0

type Functions = Record<string, (...args: unknown[]) => unknown>

function countCalls(owner: Functions, names: readonly string[]): void {
  for (const name of names) {
    const real = owner[name] as Functions[string]
    owner[name] = function counted(this: unknown, ...args: unknown[]) {
      if (++calls === Number(last)) process.kill(process.pid, 'SIGKILL')
      return real.apply(this, args)
    }
  }
}

const probe = openDatabase(':memory:')
countCalls(Object.getPrototypeOf(probe), ['exec', 'close'])
const changing = ['openSync', 'fchmodSync', 'chmodSync', 'writeFileSync', 'closeSync', 'linkSync', 'mkdtempSync', 'renameSync', 'rmSync']
countCalls(fs as unknown as Functions, changing)
syncBuiltinESMExports()

openStore({ file, durability: 'full', random: () => 0.5, now: 1, host: 'h', pid: process.pid }).close()
process.stdout.write(String(calls))
