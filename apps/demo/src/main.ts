/** Millrace at work on real files: finds the duplicates under a folder, survives any kill, and reports. */
import { demo } from './demo.ts'

process.exitCode = await demo(process.argv.slice(2), process)
