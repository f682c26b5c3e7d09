/** Payloads of jobs as downloads, one at a time. */
import { z } from '@hono/zod-openapi'
import { isErrorOf, PAYLOADS, type PayloadName } from '@millrace/core'
import { download } from '../answer.ts'
import { HttpError } from '../errors.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { HIDDEN } from '../redaction.ts'
import { JOB_PATH } from '../schemas/job.ts'

const SUMMARIES: Readonly<Record<PayloadName, string>> = {
  data: 'The data of a job, as it is stored',
  output: 'The output of a job, as it is stored',
  checkpoint: 'The checkpoint of a job, as it is stored',
}

export function payloadRoutes({ engine, redaction }: Service): readonly Operation[] {
  const payload = (name: PayloadName): Operation =>
    operation({
      id: `getJob${name[0]?.toUpperCase()}${name.slice(1)}`,
      method: 'get',
      path: `/v1/jobs/{id}/${name}`,
      tag: 'jobs',
      scope: 'read',
      summary: SUMMARIES[name],
      description:
        'A file to save: JSON, or bytes. Nothing else of the job is read. With values that `redact` hides, it is JSON with blanks.',
      params: JOB_PATH,
      responses: { 200: { description: 'The payload', type: ['application/json', 'application/octet-stream'], schema: z.unknown() } },
      refusals: [404, 409],
      async handle({ params: { id } }) {
        const stored = await engine.payload(id, name).catch((error) => {
          throw isErrorOf(error, 'CodecError') ? undecodable(id, name) : error
        })
        if (stored === undefined) throw new HttpError('NOT_FOUND', `job ${id} has no ${name}`)
        // Stored text that is no JSON shows no values: it is hidden as a whole.
        const { shown = HIDDEN.shown } = redaction.stored(name, stored)
        return typeof shown === 'string'
          ? download(shown, 'application/json', `${id}-${name}.json`)
          : download(shown as Uint8Array<ArrayBuffer>, 'application/octet-stream', `${id}-${name}.bin`)
      },
    })
  return PAYLOADS.map(payload)
}

function undecodable(id: string, name: PayloadName): HttpError {
  return new HttpError('CODEC', `the codec cannot decode the ${name} of job ${id}: does it still have the key?`)
}
