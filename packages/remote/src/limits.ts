/** Every number that bounds a connection. Those that are options of `listen` are said to be. */

const MIB = 2 ** 20

export const BOUNDS = {
  /** Of a socket's path, which systems bound at 104 to 108. */
  pathBytes: 100,
  /** The greeting, both ways. */
  greetingBytes: 4 * 1024,
  /** One frame from a client: a command of 16 MiB, and what is around it. */
  frameBytes: 17 * MIB,
  /** One frame from a server: a job with data, output and checkpoint of 16 MiB each. */
  replyFrameBytes: 64 * MIB,
  /** A server cuts what it has for a client into frames of about so much, so that the first can be handled while the rest comes. */
  sliceBytes: MIB,
  /** Requests, replies, grants or events in one frame. */
  itemsPerFrame: 10_000,
  /** Of unanswered requests on one connection: beyond them the server reads no more. */
  bytesInFlight: 8 * MIB,
  /** Jobs that one connection reads at a time, by `get`, `getFlow` and `list`: each may have 48 MiB, and an answer waits in memory. */
  jobsRead: 64,
  /** Worker sessions of one connection. */
  sessions: 10_000,
  /** Results that one connection waits for. */
  watches: 100_000,
  /** Said and not taken by the client, beside the most that was said at once: beyond them the connection is closed. */
  unsentBytes: 32 * MIB,
  /** Not taken by a client: beyond them its questions, and what it asks behind them, wait until it has read all. */
  unreadBytes: MIB,
  /** Not taken by the other end: beyond them its pings are not answered. */
  unsentPongBytes: 64 * 1024,
  /** From the first byte of a frame to its last, at a server. */
  frameMs: 10_000,
  /** Without a frame for so long: a ping. */
  pingMs: 15_000,
  /** Without a frame for so long, the other end is taken for dead. */
  silenceMs: 45_000,
  /** Of what a goodbye says for people, in UTF-16 units: it fits into a greeting. */
  goodbyeLength: 1_000,
  /** How long a goodbye has to get out. */
  goodbyeMs: 1_000,
  /** What a client is told to wait where there is no room, and where the engine starts again. */
  busyRetryMs: 500,
  restartRetryMs: 100,
} as const
