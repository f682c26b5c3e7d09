/** The job of sidequest, where sidequest looks for it. Imported once its base class is known. */
import type { Payload } from '../payload.ts'
import { job } from './sidequestJob.ts'

if (job.base === undefined) throw new Error('the package sidequest is to be loaded before')

export class NoopJob extends job.base {
  override async run(payload: Payload): Promise<unknown> {
    return job.handle({ payload, id: this.id, attempt: this.attempt })
  }
}
