/** Reads jobs by their row numbers, and by their numbers in producers' journals. */
import type { Data, PayloadName } from '@millrace/core'
import type { JobRow, SourceOffset } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { CUT_JOB_ROW, cutJobFrom, PAYLOAD_BYTES } from '../tables/job.ts'
import { fittingOf, readInOrder, type Sized } from './bounded.ts'

export type ReadJobs = (seqs: readonly number[], bytesMax?: number) => JobRow[]

export function prepareJobs(connection: Connection): ReadJobs {
  return (seqs, bytesMax) => {
    if (bytesMax === undefined || seqs.length === 0) return readInOrder(connection, seqs)
    const rows = connection.all<unknown[]>(`SELECT ${CUT_JOB_ROW} FROM job WHERE job.seq = ANY ($2::bigint[])`, bytesMax, seqs)
    const bySeq = new Map(rows.map((row) => [row[0] as number, cutJobFrom(row, bytesMax)]))
    return seqs.flatMap((seq) => bySeq.get(seq) ?? [])
  }
}

/** Returns the first of the jobs, up to about that many bytes of payload. */
export function readWithin(connection: Connection, seqs: readonly number[], bytesMax: number): JobRow[] {
  return readInOrder(connection, fittingOf(sizesOf(connection, seqs), seqs.length, bytesMax))
}

/** Returns the sizes of those that are there, in the order of the numbers. */
function sizesOf(connection: Connection, seqs: readonly number[]): readonly Sized[] {
  if (seqs.length === 0) return []
  const sizes = new Map(connection.all<Sized>(`SELECT seq, ${PAYLOAD_BYTES} FROM job WHERE seq = ANY ($1::bigint[])`, seqs))
  return seqs.flatMap((seq) => {
    const bytes = sizes.get(seq)
    return bytes === undefined ? [] : [[seq, bytes] satisfies Sized]
  })
}

/** Implements `Store.jobsInPlace`. */
export function prepareJobsInPlace(connection: Connection): (seqs: readonly number[], bytesMax: number) => (JobRow | undefined)[] {
  return (seqs, bytesMax) => {
    const sizes = new Map(sizesOf(connection, seqs))
    const wanted = fittingOf(
      seqs.map((seq) => [seq, sizes.get(seq) ?? 0]),
      seqs.length,
      bytesMax,
    )
    const rows = new Map(readInOrder(connection, wanted).map((row) => [row.seq, row]))
    return wanted.map((seq) => rows.get(seq))
  }
}

/** Implements `Store.payload`. */
export function preparePayload(connection: Connection): (seq: number, name: PayloadName) => Data {
  return (seq, name) => {
    const [text, bytes] = connection.get<[Data, Data]>(`SELECT ${name}, ${name}_bytes FROM job WHERE seq = $1`, seq) ?? [null, null]
    return text ?? bytes
  }
}

export function prepareSourced(connection: Connection): ReadJobs {
  const jobs = prepareJobs(connection)
  return (nodes, bytesMax) =>
    // The second condition makes the server use the partial index.
    jobs(
      connection.pluck<number>('SELECT seq FROM job WHERE node = ANY ($1::bigint[]) AND node >= 67108864 ORDER BY node, seq', nodes),
      bytesMax,
    )
}

export function prepareSourceOffsets(connection: Connection): (sources: readonly string[]) => SourceOffset[] {
  return (sources) =>
    connection
      .all<[string, number]>('SELECT uuid, mark FROM source WHERE uuid = ANY ($1::text[])', sources)
      .map(([source, offset]) => ({ source, offset }))
}
