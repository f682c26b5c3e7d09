/** Exports shared by the tests of this repository, without any promise of stability. */
export { quiet, seededRandom } from './clock.ts'
export { PORT_AREAS } from './conformance/areas.ts'
export { type Fault, type FaultPlan, Faults, type FaultyStore, faultyStore } from './faultyStore.ts'
export { Probe, sessionIntro } from './probe.ts'
export { rebuilt, tableFacts } from './rebuilt.ts'
