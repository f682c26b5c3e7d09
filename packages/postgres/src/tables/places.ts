/**
 * The places of jobs: narrow tables in place of indexes on `job`. Each is a function of the job's row: it is taken from the row before that
 * changes, and put there again from the row as it is then.
 */

interface Place {
  readonly table: string
  /** The columns of its key before `seq`, as columns of the job. */
  readonly columns: Readonly<Record<string, string>>
  /** Holds for the jobs that are in it. */
  readonly holds: string
}

const PLACES: readonly Place[] = [
  { table: 'waiting', columns: { lane: 'lane', rank: 'rank', run_at: 'run_at' }, holds: 'job.state = 1 AND job.gate IS NULL' },
  { table: 'parked', columns: { gate: 'gate', rank: 'rank', run_at: 'run_at' }, holds: 'job.gate IS NOT NULL' },
  { table: 'strict', columns: { gate: 'gate' }, holds: 'job.gate < 0' },
  { table: 'scheduled', columns: { run_at: 'run_at' }, holds: 'job.state = 0' },
  { table: 'expiry', columns: { expires_at: 'expires_at' }, holds: 'job.expires_at IS NOT NULL AND job.state IN (0, 1, 3)' },
  { table: 'failed', columns: { lane: 'lane', finished_at: 'finished_at' }, holds: 'job.state = 5' },
  { table: 'arrival', columns: { queue: 'dropping' }, holds: 'job.dropping IS NOT NULL AND job.state IN (0, 1)' },
]

const keyOf = ({ columns }: Place) => [...Object.keys(columns), 'seq'].join(', ')

export const CREATE_PLACES = PLACES.map((place) => {
  const columns = Object.keys(place.columns).map((name) => `${name} bigint NOT NULL`)
  return `CREATE TABLE ${place.table} (${columns.join(', ')}, seq bigint NOT NULL, PRIMARY KEY (${keyOf(place)}))`
})

/** Takes the jobs `$1` out of their places, before their rows change. */
export const LEAVE_PLACES = parts(({ table, columns, holds }) => {
  const same = Object.entries(columns).map(([name, column]) => `place.${name} = job.${column}`)
  return `DELETE FROM ${table} AS place USING job WHERE job.seq = ANY ($1::bigint[]) AND ${holds} AND ${same.join(' AND ')} AND place.seq = job.seq`
})

/** Puts the jobs `$1` into their places, after their rows have changed. */
export const TAKE_PLACES = parts((place) => {
  const values = [...Object.values(place.columns), 'seq'].map((column) => `job.${column}`)
  return `INSERT INTO ${place.table} (${keyOf(place)}) SELECT ${values.join(', ')} FROM job WHERE job.seq = ANY ($1::bigint[]) AND ${place.holds}`
})

/** Joins a statement for each place to one. */
function parts(statement: (place: Place) => string): string {
  return `WITH ${PLACES.map((place) => `in_${place.table} AS (${statement(place)})`).join(',\n')}\nSELECT 1`
}
