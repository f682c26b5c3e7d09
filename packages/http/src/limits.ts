/** Every number that bounds a request. Those that are options of `createHttp` are said to be. */

const MIB = 2 ** 20

export const BOUNDS = {
  /** Default of `maxBodyBytes`. */
  bodyBytes: MIB,
  bodyBytesMax: 64 * MIB,
  /** Default of `bodyTimeout`: how long a body has to come, and an import to send more of it. */
  bodyMs: 30_000,
  bodyMsMax: 86_400_000,
  /** Default of `maxLineBytes`: one line of an import. */
  lineBytes: MIB,
  lineBytesMax: 16 * MIB,
  /** One atomic command of an import: so many lines, or as many as have so many bytes. */
  importJobs: 1_000,
  importBytes: 4 * MIB,
  /** Lines of an import that are told with what was wrong with them; all are counted. */
  importErrors: 100,
  /** Faults of one body that are told. */
  faults: 20,
  /** Callers whose rates are remembered. */
  callers: 10_000,
  /** Of `cursorSecret`, in bytes. */
  secretMin: 16,
  searchLength: 200,
  /** Event streams that are open at a time, and those of one token. */
  streams: 256,
  streamsPerToken: 64,
  /** Events that a stream sends at a time. */
  eventsPerChunk: 64,
  /** Chunks that all streams together send before others have the thread. */
  chunksAtOnce: 8,
  /** Events whose text is kept for other streams that come to them. */
  framesKept: 2_000,
  /** An event stream that has nothing to tell says so. */
  heartbeatMs: 15_000,
  /** What an event stream holds for a reader that is slow. */
  streamBytes: 64 * 1024,
  /** Of `drain`: how long a request waits that does not say, enough to hear of a queue that is empty; and how long it may. */
  drainMs: 50,
  drainWaitMs: 30_000,
  /** How long the engine has to answer `/readyz`. */
  readyMs: 5_000,
  /** Queues and job names that `/metrics` tells, those with the most first. */
  metricsQueues: 1_000,
  metricsNames: 200,
  /** Schedules that `/v1/stats` and `/metrics` count: ten pages. */
  countedSchedules: 2_000,
  /** What a caller is told to wait where nothing better is known. */
  retryAfterMs: 1_000,
} as const
