/** Limits so small that a test of ten jobs meets every one of them. They hold until the tests of the file that asks for them are over. */
import { afterAll, onTestFinished } from 'vitest'
import { LIMITS } from '../limits.ts'

const SMALL = {
  windowJobs: 4,
  windowBytes: 60,
  windowsJobs: 10,
  windowsBytes: 200,
  sliceRows: 3,
  keyJobsInLine: 2,
  keysFar: 3,
  walkRows: 5,
  heavyPatienceMs: 40,
  reattachGraceMs: 25,
  logLinesPerRun: 2,
}

/** @param others limits that are to have other values */
export function useSmallLimits(others: Partial<Record<keyof typeof LIMITS, number>> = {}): void {
  const before = { ...LIMITS }
  Object.assign(LIMITS, SMALL, others)
  afterAll(() => void Object.assign(LIMITS, before))
}

/** Sets limits until the test is over. A store reads some when it is opened. */
export function setLimits(limits: Partial<typeof LIMITS>): void {
  const before = { ...LIMITS }
  Object.assign(LIMITS, limits)
  onTestFinished(() => void Object.assign(LIMITS, before))
}
