/** Owns the schema of the server at the address that it is given, until it is killed. */
import { openEngine } from '@millrace/engine'

await openEngine({ postgres: process.argv[2] as string, role: 'owner', logger: false })
process.stdout.write('owns\n')
setInterval(() => {}, 60_000)
