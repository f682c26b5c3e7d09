// The file is taken from under the running engine: it must not go on as if nothing had happened, and has what it has acknowledged.
import { lostFiles } from './scenarios/lostFile.ts'
import { slice } from './slice.ts'

for (const [harm, scenario] of Object.entries(lostFiles))
  slice(`1: ${harm}: a typed error, and nothing that was acknowledged is lost`, scenario)
