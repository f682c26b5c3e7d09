/** The async context of the program, apart from that of a caller. */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function in the async context in which this module was loaded. Timers, sockets, threads and loops that it starts do not keep the
 * stores of `AsyncLocalStorage` that the caller has: an engine outlives the request that happened to open it.
 */
export const apart: <Given extends readonly unknown[], Answer>(call: (...given: Given) => Answer, ...given: Given) => Answer =
  AsyncLocalStorage.snapshot()
