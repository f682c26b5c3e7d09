// The file, its disk, its log and its owners in trouble.
import { fullDisk } from './scenarios/disk.ts'
import { takeOvers } from './scenarios/owners.ts'
import { walStarvation } from './scenarios/wal.ts'
import { slice } from './slice.ts'

slice('1, 7, 32: the disk fills up under load, once with a kill', fullDisk)
slice('31: a reader for the whole run: the log has a cap, and is cut when the reader has gone', walStarvation)
slice('1, 8: several processes want the file, and each owner is killed', takeOvers)
