/** What the tests of this repository share; nothing of it is promised. */
export { quiet, seededRandom } from './clock.ts'
export { type Fault, type FaultPlan, Faults, type FaultyStore, faultyStore } from './faultyStore.ts'
export { Probe, sessionIntro } from './probe.ts'
export { rebuilt, tableFacts } from './rebuilt.ts'
