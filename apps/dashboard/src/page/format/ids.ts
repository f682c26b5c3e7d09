/** Ids of jobs, shortened to what differs: they begin with the time, which jobs of a list share. */

export const JOB_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The API takes short ids where one job is read, and in searches. */
export const SHORT_ID = /^[0-9a-f]{4}-[0-9a-f]{6}$/i

/** "7c60-01275d" of 01a20941-7c60-7000-8000-01275d5b9b95, whose end is the number of the file; other ids are as they are. */
export function shortId(id: string): string {
  return JOB_ID.test(id) ? `${id.slice(9, 13)}-${id.slice(24, 30)}` : id
}
