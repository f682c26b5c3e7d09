/** The limits of a connection that are not options of `listen`. */

const MIB = 2 ** 20

export const BOUNDS = {
  /** The path of a socket, which systems limit to 104 to 108 bytes. */
  pathBytes: 100,
  /** A frame of the greeting, in both directions. */
  greetingBytes: 4 * 1024,
  /** One frame from a client: a command of 16 MiB and its envelope. */
  frameBytes: 17 * MIB,
  /** One frame from a server: a job with data, output and checkpoint of 16 MiB each. */
  replyFrameBytes: 64 * MIB,
  /** A server cuts its deliveries into frames of about this size, so that the first can be handled while the rest arrives. */
  sliceBytes: MIB,
  /** Requests, replies, grants or events in one frame. */
  itemsPerFrame: 10_000,
  /** The bytes of unanswered requests on one connection: beyond this the server stops reading. */
  bytesInFlight: 8 * MIB,
  /** Jobs that one connection reads at a time, by `get`, `list` and what reads flows: each may have 48 MiB, and an answer waits in memory. */
  jobsRead: 64,
  /** Worker sessions of one connection. */
  sessions: 10_000,
  /** Results that one connection waits for. */
  watches: 100_000,
  /** Bytes that a client has yet to take, in addition to the largest burst: beyond this the connection is closed. */
  unsentBytes: 32 * MIB,
  /** Bytes that a client has yet to take: beyond this its questions and the requests behind them wait until it has read all. */
  unreadBytes: MIB,
  /** Bytes that the other end has yet to take: beyond this its pings are not answered. */
  unsentPongBytes: 64 * 1024,
  /** The time from the first byte of a frame to its last, at a server. */
  frameMs: 10_000,
  /** The time without a frame after which an end pings. */
  pingMs: 15_000,
  /** The time without a frame after which the other end counts as dead. */
  silenceMs: 45_000,
  /** The length of the message in a goodbye, in UTF-16 units: it fits into a greeting. */
  goodbyeLength: 1_000,
  /** The time for a goodbye to get out. */
  goodbyeMs: 1_000,
  /** The delays that a client is asked to wait: if there is no room, and when the engine restarts. */
  busyRetryMs: 500,
  restartRetryMs: 100,
} as const
