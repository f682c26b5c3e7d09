// The system's own limits: of file sizes, and of open files.
import { descriptorsToBackUp, descriptorsToList, descriptorsToOpen, writeErrors } from './scenarios/limits.ts'
import { slice } from './slice.ts'

slice('1, 2, 5, 7: write errors under load (ulimit -f)', writeErrors)
slice('too many open files (ulimit -n): opening is refused with a typed error, or works', descriptorsToOpen)
slice('too many open files (ulimit -n): a backup is refused with a typed error, and works later', descriptorsToBackUp)
slice('too many open files (ulimit -n): a list is refused with a typed error, and works later', descriptorsToList)
