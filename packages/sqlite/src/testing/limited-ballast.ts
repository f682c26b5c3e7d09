/** Takes room until the system lets no file grow further, and prints the result: `node limited-ballast.ts <file>` under `ulimit -f`. */
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ballastBeside } from '../ballast.ts'

const file = process.argv[2] as string
const ballast = ballastBeside(file, 8 * 2 ** 20, () => ({ mode: 0o600, like: undefined }))
const restored = ballast.restore()
process.stdout.write(JSON.stringify({ restored, left: readdirSync(dirname(file)) }))
