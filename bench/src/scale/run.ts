/** Measures, in a process that loads what is published: `run.ts <lone> <jobs> <held seconds>` prints the constants and the shares as JSON. */
import { measure } from './measure.ts'

const [lone, jobs, heldSeconds] = process.argv.slice(2).map(Number) as [number, number, number]
const measured = await measure({ lone, jobs, heldSeconds }, (what) => void process.stderr.write(`measures ${what}\n`))
process.stdout.write(JSON.stringify(measured))
