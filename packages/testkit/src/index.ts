export { quiet, seededRandom, VirtualClock } from './clock.ts'
export { type PortUnderTest, portConformance } from './conformance.ts'
export { createTestEngine, type TestEngine, type TestEngineOptions } from './engine.ts'
export { Probe, sessionIntro } from './probe.ts'
