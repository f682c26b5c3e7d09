/** Imported before anything else of core: bounds so small that a test of ten jobs meets every one of them. */
import { LIMITS } from '../limits.ts'

Object.assign(LIMITS, {
  windowJobs: 4,
  windowBytes: 60,
  windowsJobs: 10,
  windowsBytes: 200,
  sliceRows: 3,
  walkRows: 5,
  heavyPatienceMs: 40,
  reattachGraceMs: 25,
  logLinesPerRun: 2,
})
