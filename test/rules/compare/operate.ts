import { type Group, has } from './row.ts'

// Peers: BullMQ, pg-boss, graphile-worker, River, Oban, Sidekiq, Solid Queue, good_job, Hatchet, Faktory.
export const operate: Group = {
  name: 'operate',
  rows: [
    has('Pause a queue', 'yes no no yes yes Pro yes yes no yes', [
      'packages/core/src/kernel/queues/limits.test.ts',
      'a pause of a queue, of a name or of a key holds its own jobs alone, and outlives a restart',
    ]),
    has('Pause a job name', 'no no no no no no no yes yes no', [
      'packages/core/src/kernel/queues/limits.test.ts',
      'a pause of a queue, of a name or of a key holds its own jobs alone, and outlives a restart',
    ]),
    has('Pause a key', 'Pro no no no no no no no no no', [
      'packages/core/src/kernel/queues/limits.test.ts',
      'a pause of a queue, of a name or of a key holds its own jobs alone, and outlives a restart',
    ]),
    has(
      'A pause that ends after a time',
      'partly no no no no no no no no no',
      ['packages/core/src/kernel/queues/pause.test.ts', 'a timed pause of'],
      { bullmq: 'a rate limit by hand, for a number of milliseconds' },
    ),
    has(
      'Retention by age',
      'yes yes no yes yes partly yes yes yes partly',
      ['test/engine/exports.test.ts', 'retention by age and by count waits for the cursor as well'],
      { sidekiq: 'of dead jobs; completed jobs are gone', faktory: 'of dead jobs; completed jobs are gone' },
    ),
    has(
      'Retention by count',
      'yes no no no Pro partly no no no no',
      ['test/engine/exports.test.ts', 'retention by age and by count waits for the cursor as well'],
      { sidekiq: 'of dead jobs' },
    ),
    has('Retention of one job, set at its enqueue', 'yes yes no no no no no no no no', [
      'test/engine/retention.test.ts',
      'keep: how long one job is kept is said at its enqueue',
    ]),
    has(
      'HTTP API',
      'partly yes no no no no no no yes no',
      ['test/http/endpoints.test.ts', 'each route of endpoints answers as the document says'],
      { bullmq: 'BullMQ Proxy: jobs and workers, without pauses and flows', pgBoss: 'by the package `@pg-boss/proxy`' },
    ),
    has(
      'Command line for jobs and queues',
      'no no no no no yes no no yes no',
      ['test/app/commands.test.ts', 'jobs: enqueue, list, show, cancel, retry, delete, run, logs'],
      { sidekiq: '`kiq`, a terminal interface' },
    ),
    has(
      'Tokens with scopes, or roles',
      'no partly no partly partly partly no no yes partly',
      ['test/remote/authenticate.test.ts', 'a token that is known gets its scopes'],
      {
        pgBoss: 'one password, and lists of routes, for the proxy',
        river: 'one password for the dashboard',
        oban: 'a resolver of your own for the dashboard',
        sidekiq: 'Ent: authorization of the web pages',
        faktory: 'one password',
      },
    ),
    has('Audit of what admins do', 'no no no no partly no no no Paid no', ['test/app/wired.proof.test.ts', 'an audit of what admins do'], {
      oban: 'telemetry events of the dashboard',
    }),
    has('Import the jobs of another queue', 'no no no no no no no no no no', [
      'test/app/importBullmq.proof.test.ts',
      'jobs, delays, priorities, attempts and keys; twice is once',
    ]),
  ],
}
