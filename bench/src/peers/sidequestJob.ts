/** What sidequest's job needs of the adapter: sidequest makes each job anew, in a module that it imports by itself. */
import type { Payload } from '../payload.ts'

export type JobBase = new () => { run(payload: Payload): Promise<void> }

export const job: { base: JobBase | undefined; handle: (payload: Payload) => void } = { base: undefined, handle: () => {} }
