/** A short run that ends at a chosen operation, as the process would if it were killed there. */
import type { Crash } from '../extension.ts'
import { shortRun } from '../matrix.ts'

const [extension, folder, seed, crash, at] = process.argv.slice(2) as [string, string, string, Crash['crash'], string]
await shortRun({ path: extension }, { folder, seed: Number(seed), instructions: { crash: { crash, at: Number(at) } } })
