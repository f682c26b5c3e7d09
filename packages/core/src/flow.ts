/** Flows: jobs that wait for others. */

/** The reaction of a job to a parent that failed, was cancelled or was deleted before it completed. */
export const ON_PARENT_FAILURE = ['fail', 'continue', 'ignore'] as const

/** The effect of a failed parent on a job that waits for it. */
export type OnParentFailure = (typeof ON_PARENT_FAILURE)[number]
