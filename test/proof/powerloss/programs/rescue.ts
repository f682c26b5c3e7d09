/** Records in a process of its own how a file is taken away from an engine: the VFS, once loaded, is for every connection of its process. */
import { type Harm, recordRescue } from '../rescue.ts'

const [extension, folder, seed, harm] = process.argv.slice(2) as [string, string, string, Harm]
await recordRescue({ path: extension }, { folder, seed: Number(seed), harm })
