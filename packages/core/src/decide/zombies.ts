/** Runs that ignored their abort for the whole grace: fenced, and counted until they are heard of again. */
import type { Job } from '../job.ts'
import type { Tables } from '../tables/tables.ts'

export function noteZombie(tables: Tables, job: Job): void {
  if (job.session === undefined) return
  job.session.zombies++
  tables.zombies.set(`${job.seq}:${job.run}`, job.session)
}

export function forgetZombie(tables: Tables, seq: number, run: number): void {
  if (tables.zombies.size === 0) return
  const key = `${seq}:${run}`
  const session = tables.zombies.get(key)
  if (session === undefined) return
  session.zombies--
  tables.zombies.delete(key)
}
