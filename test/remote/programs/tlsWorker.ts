/**
 * A worker over TLS for the jobs of `leases.ts`: `tlsWorker.ts URL TOKEN CERTIFICATES`. Its runs go on until they are aborted, or until a
 * line comes in.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@millrace/remote'
import { jobs, tell } from './leases.ts'

const [url = '', token = '', certificates = ''] = process.argv.slice(2)
const tls = { ca: readFileSync(join(certificates, 'ca.crt')), servername: 'localhost' }
const engine = await connect(url, { token, tls, connectTimeout: '30s' })
const { promise: told, resolve: finish } = Promise.withResolvers<void>()
process.stdin.once('data', () => finish())
engine.work(
  jobs.map((job) =>
    job.handler(async ({ job: { name, run }, signal }) => {
      tell(`running ${name} ${run}`)
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      await Promise.race([aborted, told])
      if (signal.aborted) tell(`aborted ${name} ${run} ${(signal.reason as { code?: string }).code}`)
      return 'far'
    }),
  ),
  { concurrency: 10 },
)
// Answered after the attach.
await engine.stats()
tell('working')
