/** All limits of requests. The comments name those that are options of `createHttp`. */

const MIB = 2 ** 20

export const BOUNDS = {
  /** The default of `maxBodyBytes`. */
  bodyBytes: MIB,
  bodyBytesMax: 64 * MIB,
  /** The maximum size of the body of a log-in or log-out, which is read before anybody knows who asks. */
  sessionBodyBytes: 8 * 1024,
  /** The number of requests of one connection that may wait for an earlier one. Beyond it, the connection is closed. */
  requestsWaiting: 16,
  /** The unread bytes of all answers together, at most a quarter of the heap. Beyond it, the client with the most loses its connection. */
  unreadBytes: 256 * MIB,
  /** The time after which a client that reads nothing of an answer loses its connection, and the interval at which that is noticed. */
  unreadMs: 60_000,
  unreadLookMs: 5_000,
  /** The default of `bodyTimeout`: the time for a body to arrive, or for an import to send more of it. */
  bodyMs: 30_000,
  bodyMsMax: 86_400_000,
  /** The default of `maxLineBytes`, for one line of an import. */
  lineBytes: MIB,
  lineBytesMax: 16 * MIB,
  /** The maximum size of one atomic command of an import: this many lines or bytes. */
  importJobs: 1_000,
  importBytes: 4 * MIB,
  /** The number of refused lines that an import reports with their faults; all are counted. */
  importErrors: 100,
  /** The number of faults of one body that are reported. */
  faults: 20,
  /** The number of callers whose rates are remembered. */
  callers: 10_000,
  /** The minimum size of `cursorSecret` and `sessionSecret`, in bytes. */
  secretMin: 16,
  /** The time for which a session lasts without a request, and the maximum time from its log-in. */
  sessionIdleMs: 12 * 3_600_000,
  sessionMs: 7 * 86_400_000,
  /** The age of a session's cookie at which a request renews it. */
  sessionRenewMs: 600_000,
  /** The number of ended sessions that are remembered: beyond it the earliest of the token that has the most are forgotten. */
  sessionsEnded: 10_000,
  /** The maximum length of a token of a session. Sealed, it must fit into the 4,096 bytes that browsers allow a cookie. */
  sessionTokenLength: 2_048,
  /** The maximum number of origins in `dashboard.frameAncestors`. */
  frameAncestors: 100,
  /** The maximum number of paths in `redact`, and the maximum length of one. */
  redactPaths: 100,
  redactLength: 512,
  searchLength: 200,
  /** The maximum number of open event streams, and of those of one token. */
  streams: 256,
  streamsPerToken: 64,
  /** The number of events that a stream sends at a time. */
  eventsPerChunk: 64,
  /** The number of chunks that all streams together send before others have the thread. */
  chunksAtOnce: 8,
  /** The number of events whose text is kept for other streams that reach them. */
  framesKept: 2_000,
  /** The interval of heartbeats on an event stream. */
  heartbeatMs: 15_000,
  /** The number of bytes that an event stream holds for a slow reader. */
  streamBytes: 64 * 1024,
  /** The default time that `drain` waits, enough to notice an empty queue, and the maximum that a request may set. */
  drainMs: 50,
  drainWaitMs: 30_000,
  /** The number of queues and job names that `/metrics` shows, those with the most first. */
  metricsQueues: 1_000,
  metricsNames: 200,
  /** The number of schedules that `/v1/stats` and `/metrics` count: ten pages. */
  countedSchedules: 2_000,
  /** The time that a caller is asked to wait if nothing better is known. */
  retryAfterMs: 1_000,
} as const
