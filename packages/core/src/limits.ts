/** Every number that bounds something. Those that are options are said to be; the others are facts of this version. */

const MIB = 2 ** 20

/** The limits of the engine. Names carry their units; numbers without one are counts. */
export const LIMITS = {
  /** The length of queue names, job names and worker ids, which also match `NAME_PATTERN`. */
  nameLength: 128,
  /** The length of idempotency, unique and concurrency keys and of tags, in UTF-16 units. */
  keyLength: 512,
  tagsPerJob: 32,
  /** Results of durable calls that a job records. */
  stepsPerJob: 10_000,
  /** Waits that a job has open. */
  waitsPerJob: 100,
  /** Messages that are kept for a job, and about the bytes of their values. */
  messagesPerJob: 1_000,
  messagesBytes: 16 * MIB,
  /** Tiers of keys of one queue. */
  keyTiers: 100,
  /** Fields that make a unique key. */
  uniquePaths: 32,
  /** The length of JSON that `list` and bulk calls look for in `data` or `meta`, in UTF-16 units. */
  containedLength: 1_024,
  /** Levels of nesting of JSON that comes as text. */
  jsonDepth: 1_000,
  /** Default of the option `maxQueues`. */
  queues: 10_000,
  /** Job names, each counted once for each of its queues; and as many names with defaults. */
  names: 100_000,
  /** The time after which a job name that nothing uses is forgotten, and the interval at which such names are looked for. */
  nameUnusedMs: 86_400_000,
  namesEveryMs: 3_600_000,
  /** Default of the option `maxDataBytes`, for data, output and checkpoint each. */
  dataBytes: MIB,
  /** The length of `meta` as JSON. */
  metaBytes: 16 * 1024,
  /** One atomic command. */
  jobsPerCommand: 10_000,
  bytesPerCommand: 16 * MIB,
  /** "Waits for" of all jobs of one flow together. */
  edgesPerFlow: 50_000,
  /** The number of times that one job waits for jobs that it creates. */
  joinsPerJob: 100,
  /** The number of dependencies in one page of a flow: the rest of a job's dependencies is on the next page. */
  edgesPerPage: 1_000,
  /** The bytes of outputs in one page of a job's parents, beyond the first output. */
  parentsBytes: 4 * MIB,
  priority: 1_000_000,
  weight: 1_000_000,
  /** Tokens of a rate limit: its limit, its burst, and those of one start. */
  tokens: 1_000_000_000,
  /** The largest `maxLength` of a queue: jobs that have yet to start. */
  queueLength: 1_000_000_000,
  maxAttempts: 100_000,
  concurrency: 100_000,
  /** The largest concurrency limit of a queue, and of a key in it. */
  concurrencyLimit: 1_000_000,
  /** The longest delay, ttl or timeout: a hundred years of 365 days. */
  durationMs: 100 * 365 * 86_400_000,
  /** The last instant that a Date can hold, in milliseconds since 1970. */
  timeMs: 8_640_000_000_000_000,
  /** The last millisecond since 1970 that a job's id can say. */
  idTimeMs: 2 ** 48 - 1,
  /** The lengths of an error's message and stack and of a log line, in UTF-16 units; the rest is cut off. */
  errorMessageLength: 4_096,
  errorStackLength: 16_384,
  /** The lengths of an error's code and name and of a cause's name and message; the number of causes that are kept. */
  errorNameLength: 128,
  errorCodeLength: 128,
  errorCauseLength: 1_000,
  errorCauses: 5,
  logMessageLength: 4_096,
  /** The size of a value that a run reports as its progress, as JSON. */
  progressBytes: 16 * 1024,
  /** The length of the reason of a cancel, in UTF-16 units. */
  reasonLength: 1_000,
  /** The part of that message which a list shows of a job's last run. */
  lastErrorLength: 300,
  /** The newest log lines of one run that a job, a list and an export show, and that a run keeps unless its job says otherwise. */
  logLinesPerRun: 100,
  /** The most log lines that a run may keep. */
  logLinesKept: 10_000,
  /** Log lines in one page, and about the bytes of their text. */
  pageLogs: 1_000,
  logsBytes: MIB,
  /** Results of durable calls in one answer, and about so many bytes of their values. */
  pageSteps: 1_000,
  stepsBytes: 4 * MIB,
  /** The newest failed runs that are kept of one job. */
  attemptsPerJob: 50,
  /** Commands that the caller's side has sent and not yet seen answered. */
  commandsInFlight: 10_000,
  bytesInFlight: 64 * MIB,
  /** New work that the caller's side holds back beyond those, before it refuses with BusyError. */
  enqueuesHeld: 100_000,
  bytesHeld: 256 * MIB,
  /** A turn takes no further command once it has this many jobs. */
  jobsPerTurn: 2_000,
  /** A turn begins no further answer to a question once it has answered for this long: the rest is for the next turns. */
  turnMs: 10,
  /** Jobs of one lane kept in memory, and of all lanes together: past these each that a worker serves has its share, and one job at least. */
  windowJobs: 1_000,
  windowBytes: 4 * MIB,
  windowsJobs: 64_000,
  windowsBytes: 256 * MIB,
  /** The number of jobs in line of a key that has nothing running or in memory; further ones are parked. */
  keyJobsInLine: 64,
  /** Such keys that are counted, each for a job name: those whose jobs came last. */
  keysFar: 1_000,
  /** The keys of a queue that an answer about its keys looks at, and the page of `queues.keys`. */
  keysLooked: 10_000,
  pageKeys: 200,
  /** Rows that one turn promotes, expires or prunes at most. */
  sliceRows: 500,
  /** Rows that one slice of a walk through the jobs looks at. */
  walkRows: 2_000,
  /** The jobs that a page looks at in any case: time ends it only behind them. */
  leastRows: 32,
  /** The intervals at which old jobs, old events and expired idempotency keys are looked for. */
  pruneEveryMs: 5_000,
  journalEveryMs: 60_000,
  keysEveryMs: 60_000,
  /** The time until an expired key whose job still lives is looked at again. */
  keysKeptMs: 3_600_000,
  /** Jobs that one slice of a bulk call names by id. */
  idsPerSlice: 100,
  /** The store notes anew which jobs run once the journal has so many events since: what opening a file replays at most. */
  eventsPerSnapshot: 50_000,
  /** Queues' job names of which `stats` tells how long they wait and run. */
  namesTimed: 1_000,
  /** How long the history of a queue is kept by the minute, and by the hour. */
  historyMinutesMs: 6 * 3_600_000,
  historyHoursMs: 14 * 86_400_000,
  /** Queues that one question for the history of all tells one by one; those that it sums up, on a reader thread and on the writer. */
  historyQueues: 50,
  historySummed: 1_000,
  historySummedByWriter: 50,
  /** Kinds of failures that are kept: those seen last, within so long. */
  failureGroups: 1_000,
  failuresMs: 30 * 86_400_000,
  /** The hours of their trend. */
  failureTrendHours: 24,
  /** Page of `failures`. */
  pageFailures: 200,
  /** New work is refused while the write-ahead log is larger: a reader keeps it from being folded into the file. */
  walBytes: 2 ** 30,
  /** Free pages that a file keeps to use them again, of 4 KiB; more where they are no more than this share of it. */
  freePagesKept: 2_048,
  freeShareKept: 0.25,
  /** Given back to the file system in one slice. */
  slicePages: 32,
  /** Told on one Port and not yet read there: beyond them events are left out, and a gap is told. */
  eventsUnread: 20_000,
  /** The number of journal rows that one question for events looks at. */
  eventsPerPage: 500,
  /** The same of a question for an export: of the events in between it makes nothing. */
  exportEvents: 2_000,
  /** A question whose filter nothing fits is answered with the new cursor after so many. */
  eventsPassed: 10_000,
  /** Names for which finished jobs are kept until they are taken. */
  exports: 64,
  /** The bytes of payloads in one batch of an export, except for a single job that has more. */
  exportBytes: 8 * MIB,
  /** The number of jobs of one state in a queue that exports make retention keep, unless it is set to keep more. */
  jobsHeldForExports: 1_000_000,
  /** The time for which lighter jobs may pass a job that does not fit. */
  heavyPatienceMs: 5_000,
  /** The time for which a remote session may be silent if it holds no job, or one with `heartbeatTimeout` 0. */
  leaseMs: 120_000,
  /** The time that a run has at least after a reload until its session has attached again. */
  reattachGraceMs: 30_000,
  /** Page of `list`, and of `flows.get`. */
  pageJobs: 200,
  /** The bytes of payloads in one page of `list`, except for a single job that has more. */
  pageBytes: 64 * MIB,
  /** The bytes of payloads in one slice of jobs that are pruned or brought back, except for a single job that has more. */
  sliceBytes: 64 * MIB,
  /** The bytes of each payload that `payload: 'preview'` shows in a list, and of one job. */
  previewBytes: 512,
  previewOneBytes: 64 * 1024,
  /** The bytes of a payload that a list reads to preview it where a codec has encoded it: of a larger one, only the size is known. */
  previewEncodedBytes: 16 * 1024,
  /** The rows that one page of a search looks at on a reader thread; on the writer `walkRows` and `turnMs` bound it. */
  searchRows: 50_000,
  searchMs: 200,
  /** Page of `queues.list`, and of `workers`. */
  pageQueues: 500,
  pageWorkers: 500,
  /** Queues that `stats` tells of, and names and keys that it asks the disk about for that. */
  statsQueues: 1_000,
  statsLookups: 1_000,
  /** Queues or workers in the answer to a client that knows no pages. */
  unpaged: 10_000,
  /** Paused names, and paused keys, that are told of one queue. */
  pausedTold: 1_000,
  /** The shortest time between two ticks of a schedule. */
  everyMs: 1_000,
  /** The largest `maxRuns` of a schedule. */
  runsPerSchedule: 1_000_000_000,
  /** The length of a cron expression, in characters. */
  cronLength: 256,
  /** The largest `jitter` of a schedule. */
  jitterMs: 86_400_000,
  /** Schedules that one turn fires at most. */
  sliceSchedules: 100,
  /** Page of `schedules.list`, and of the times that `schedules.get` tells. */
  pageSchedules: 200,
  timesPerSchedule: 1_000,
  /** How late a tick may fire if `catchUp` is 'none'. */
  tickGraceMs: 60_000,
  /** Late ticks that `catchUp: 'all'` fires one after another, before the rest becomes one. */
  ticksCaughtUp: 1_000,
  /** The time until due schedules are looked at again while no new work is accepted. */
  refusedTicksMs: 1_000,
  /** Timers are set at most this far ahead, so that a wall clock that jumps or a machine that slept is noticed. */
  timerSliceMs: 60_000,
} as const
