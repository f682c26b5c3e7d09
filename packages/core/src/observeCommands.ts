/** Questions about how the engine and its queues fare. */

/** Reply: `Stats`. */
export interface StatsCommand {
  readonly op: 'stats'
  /** Undefined: histograms. */
  readonly names?: NameDetail
  /** Undefined: all. */
  readonly definitions?: DefinitionDetail
}

export const NAME_DETAILS = ['histograms', 'percentiles', 'none'] as const
export type NameDetail = (typeof NAME_DETAILS)[number]

export const DEFINITION_DETAILS = ['all', 'disputed'] as const
export type DefinitionDetail = (typeof DEFINITION_DETAILS)[number]

/**
 * Reads the totals of a queue for each minute, or hour, in which something happened. Reply: `HistoryPoint[]`, oldest first. With
 * `busiest` it reads those of all queues. Reply: `HistoryOfQueues`.
 */
export interface HistoryCommand {
  readonly op: 'history'
  readonly queue: string
  readonly step: HistoryStep
  /** The minute, or hour, of this time is the first one. */
  readonly from: number
  /** The end, exclusive; undefined: up to now. */
  readonly to?: number
  /** The number of queues to tell one by one beside the sum of all; `queue` then says nothing. */
  readonly busiest?: number
}

export const HISTORY_STEPS = ['minute', 'hour'] as const
/** The length of one point of a history. */
export type HistoryStep = (typeof HISTORY_STEPS)[number]

/** Seen last first, or most runs first; of equal counts, those seen last first. */
export const FAILURES_ORDERS = ['last', 'count'] as const
/** The order of groups of failures. */
export type FailuresOrder = (typeof FAILURES_ORDERS)[number]

export const FAILURES_TRENDS = ['hour'] as const
/** The length of one point of a trend. */
export type FailuresTrend = (typeof FAILURES_TRENDS)[number]

/** Failures by what they have in common. Reply: `FailureGroup[]`. */
export interface FailuresCommand {
  readonly op: 'failures'
  readonly queue?: string
  readonly name?: string
  readonly limit: number
  /** Default 'last'. */
  readonly order?: FailuresOrder
  /** Each with its failed runs by the hour. Default: without. */
  readonly trend?: FailuresTrend
}

/**
 * Jobs that have ended since the export's cursor, whole; answered as `events`. `upTo` confirms what was had before: the cursor moves there in
 * the same commit. Without it the export is created, at the oldest event kept, where there is none of that name. Reply: `ExportPage`.
 */
export interface ExportCommand {
  readonly op: 'export'
  readonly name: string
  /** `next` of the page before. */
  readonly upTo?: number
  readonly limit: number
}

/** Reply: `ExportView[]`. */
export interface ExportsCommand {
  readonly op: 'exports'
}

/** Keeps nothing for the export any longer. Reply: whether there was one. */
export interface DeleteExportCommand {
  readonly op: 'deleteExport'
  readonly name: string
}
