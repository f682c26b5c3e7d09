/** A process that opens a store and keeps it until it is killed: `node owner-process.ts <file>`. */
import { openStore } from '../open-store.ts'

const file = process.argv[2] as string
openStore({ file, durability: 'full', random: () => 0.25, now: 1, host: 'child', pid: process.pid })
process.stdout.write('open\n')
setInterval(() => {}, 60_000)
