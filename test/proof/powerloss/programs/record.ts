/** Records one run in a process of its own: the VFS, once loaded, is for every connection of its process. */
import { type Durability, record } from '../recording.ts'

const [extension, folder, seed, durability, steps] = process.argv.slice(2) as [string, string, string, Durability, string]
await record({ path: extension }, folder, { seed: Number(seed), durability, steps: Number(steps) })
