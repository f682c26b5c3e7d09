/** The bridge between sidequest's job and the adapter: sidequest makes each job anew, in a module that it imports by itself. */
import type { Payload } from '../payload.ts'
import type { PeerHandler } from './peer.ts'

export type JobBase = new () => { readonly id: number; readonly attempt: number; run(payload: Payload): Promise<unknown> }

export const job: { base: JobBase | undefined; handle: PeerHandler } = { base: undefined, handle: () => {} }
