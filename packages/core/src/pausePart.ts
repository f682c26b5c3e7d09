/** A part of a queue that a pause holds: all of it, or its jobs with one name or one `concurrencyKey`. */
export const PAUSE_PARTS = ['queue', 'name', 'key'] as const
export type PausePart = (typeof PAUSE_PARTS)[number]
