/** Questions of new users, and the section of the site that answers each. */

export interface Question {
  readonly asked: string
  /** The words that they type into the search. */
  readonly words: string
  /** The section that answers. */
  readonly answer: string
  /** The place of that section among the results, from 1 to 3. A lower one is an improvement. */
  readonly rank: 1 | 2 | 3
}

const row = (asked: string, words: string, answer: string, rank: Question['rank']): Question => ({ asked, words, answer, rank })

export const QUESTIONS: readonly Question[] = [
  row('How do I install it?', 'install', '/quick-start#install', 1),
  row('Does it run on Windows?', 'windows', '/platforms#nodejs-versions-linux-macos-and-windows', 1),
  row('Which Node do I need?', 'node version', '/platforms#nodejs-versions-linux-macos-and-windows', 1),
  row('Can I use it in a serverless function?', 'serverless', '/quick-start#is-it-for-you', 2),
  row('Does a job survive a power cut?', 'power cut', '/durability#crashes-and-power-cuts', 1),
  row('What happens if a worker crashes?', 'worker crashes', '/durability#if-a-worker-crashes-at-least-once', 1),
  row('How do I make handlers idempotent?', 'idempotent', '/concepts#idempotent-handlers', 1),
  row('How does it work?', 'how it works', '/concepts#how-millrace-works', 2),
  row('How are failed jobs retried?', 'retries', '/workers#retries-when-an-attempt-fails', 3),
  row('How do I retry a failed job by hand?', 'retry a failed job', '/lifecycle#retry-and-runnow', 1),
  row('How do I cancel a job that runs?', 'cancel a running job', '/lifecycle#cancel-a-running-job-and-timeouts', 2),
  row('What does a timeout do?', 'timeout', '/lifecycle#cancel-a-running-job-and-timeouts', 2),
  row('Can several processes share a queue?', 'several processes', '/remote#one-file-several-processes', 1),
  row('Can it run on several servers?', 'multiple servers', '/postgres#millrace-on-postgres', 1),
  row('How do I run it in Docker?', 'docker', '/containers#the-docker-image', 2),
  row('How do I run it on Kubernetes?', 'kubernetes', '/containers#docker-and-kubernetes', 3),
  row('How do I start a project?', 'npm create', '/create#create-a-project', 2),
  row('How do I mount it in Next.js?', 'next.js', '/http#mounting-it-in-hono-fastify-express-or-nextjs', 1),
  row('How do I use it in NestJS?', 'nestjs', '/nestjs#nestjs', 1),
  row('How do I use it in Fastify?', 'fastify plugin', '/frameworks#fastify', 1),
  row('How do I use it in Express?', 'express', '/frameworks#express', 1),
  row('How do I run jobs in Next?', 'instrumentation.ts', '/frameworks#next', 1),
  row('How do I report failures to Sentry?', 'sentry', '/sentry#sentry', 1),
  row('How do I use it with Prisma?', 'prisma', '/outbox#prisma', 1),
  row('How do I monitor it?', 'monitoring', '/observability#observability-and-monitoring', 1),
  row('Does it have Prometheus metrics?', 'prometheus metrics', '/alerts#metrics-with-alert-rules', 1),
  row('How do I turn logging on?', 'logging', '/logging#logging', 1),
  row('Does it work with PM2?', 'pm2', '/cluster#pm2-and-cluster', 2),
  row('How many jobs can it take?', 'capacity', '/sizing#capacity-and-sizing', 2),
  row('Which alerts should I have?', 'alerts', '/alerts#metrics-with-alert-rules', 2),
  row('How do I make it safe?', 'hardening', '/hardening#hardening', 2),
  row('Why does my job not run?', 'why job not run', '/lifecycle#why-a-job-has-not-run', 3),
  row('Can an editor look at it?', 'model context protocol', '/mcp#the-model-context-protocol', 2),
  row('How do I test code with jobs?', 'unit test', '/testing#a-unit-test-in-vitest', 3),
  row('How do I migrate from BullMQ?', 'migrate from bullmq', '/migrate/bullmq#migrate-from-bullmq', 2),
  row('What is pg-boss called here?', 'pg-boss', '/migrate/pg-boss#migrate-from-pg-boss', 3),
  row('How do I leave Graphile Worker?', 'graphile worker', '/migrate/graphile-worker#migrate-from-graphile-worker', 3),
  row('How do I leave Agenda?', 'agenda', '/migrate/agenda#migrate-from-agenda', 3),
  row('Do my jobs of BullMQ come along?', 'import bullmq', '/import#bullmq', 2),
  row('How do I encrypt payloads?', 'encrypt payloads', '/privacy#codec-payloads-that-the-engine-cannot-read', 1),
  row('How do I run a job by cron in a time zone?', 'cron time zone', '/schedules#options-cron-interval-time-zone', 1),
  row('How do I delay a job?', 'delay', '/reference/jobs#what-a-call-says-delay-keys-tags', 1),
  row('How do I limit the rate?', 'rate limit', '/limits#concurrency-limits-and-rate-limits', 1),
  row('How do I pause a queue?', 'pause a queue', '/limits#pause-and-resume-a-queue', 1),
  row('Which job starts first?', 'priority', '/limits#priority-and-order', 1),
  row('How do I stop without losing work?', 'graceful shutdown', '/shutdown#shutdown-and-deploys', 1),
  row('How do I prevent duplicate jobs?', 'duplicate jobs', '/keys#keys-the-same-job-asked-for-twice', 1),
  row('How does a job wait for others?', 'job dependencies', '/flows#flows-and-batches-jobs-with-dependencies', 1),
  row('Is there a dead-letter queue?', 'dead letter queue', '/failures#a-dead-letter-queue', 1),
  row('When are old jobs deleted?', 'delete old jobs', '/retention#when-old-jobs-are-deleted', 1),
  row('How do I back it up?', 'backup', '/backups#backup-and-restore', 2),
  row('How large can a payload be?', 'payload size', '/payloads#the-size-of-a-payload', 1),
  row('How do I enqueue in my transaction?', 'database transaction', '/outbox#jobs-in-your-own-transaction', 1),
  row('How fast is it?', 'performance', '/performance#performance-how-fast-it-is-and-what-a-job-costs', 1),
]
