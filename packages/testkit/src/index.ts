/** Tests code that uses the engine: the real one, in memory, on the test's own thread, under a clock that the test moves. */
export { VirtualClock } from './clock.ts'
export { DrainError, type DrainOptions } from './drain.ts'
export { createTestEngine, type TestEngine, type TestEngineOptions } from './engine.ts'
export type { EnqueuedMatcher, ExpectOptions } from './enqueued.ts'
export { TestFaults } from './faults.ts'
export type { Leftover } from './leftovers.ts'
