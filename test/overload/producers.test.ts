// More work than can be done: refused with BusyError, or kept on disk, in bounded memory.
import { slice } from '../proof/torture/slice.ts'
import { endlessIterable, flood, hugePayloads, slowConsumer } from './scenarios.ts'

slice('1, 6, 30: producers at several times what is taken, without awaiting', flood)
slice('30: jobs wait behind handlers that block', slowConsumer)
slice('30: payloads of 1 MiB in bulk', hugePayloads)
slice('30: enqueueMany of an iterable without end', endlessIterable)
