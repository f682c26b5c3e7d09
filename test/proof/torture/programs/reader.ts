/** Another program that reads the file as it was, until it is told to let go: `reader.ts <file>`. */
import { once } from 'node:events'
import { holdRead } from '../../../../packages/sqlite/src/testing/inspect.ts'

const file = process.argv[2] as string

const letGo = holdRead(file)
process.stdout.write('holds\n')
// Also where whoever started it is gone.
await Promise.race([once(process.stdin, 'data'), once(process.stdin, 'end')])
letGo()
process.stdout.write('let go\n')
process.stdin.destroy()
