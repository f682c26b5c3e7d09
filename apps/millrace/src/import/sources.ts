/** The table of the queues to import from. */
import type { Source, SourceOptions } from './source.ts'

export interface SourceKind {
  /** Its name for people. */
  readonly title: string
  /** The default of `--namespace`, and what that is there. */
  readonly namespace: string
  readonly namespaceIs: string
  /** The form of its URL. */
  readonly url: RegExp
  readonly example: string
  /** Connects to the store. @throws MissingPackageError, SourceError, NotFoundError */
  open(options: SourceOptions): Promise<Source>
}

const POSTGRES = { url: /^postgres(?:ql)?:\/\//, namespaceIs: 'schema', example: 'postgres://user@host/database' } as const

/** Each loads its file only if it is used. */
export const SOURCES: Readonly<Record<string, SourceKind>> = {
  bullmq: {
    ...{ title: 'BullMQ', namespace: 'bull', namespaceIs: 'prefix', url: /^rediss?:\/\//, example: 'redis://host:6379' },
    open: async (options) => (await import('./bullmq/source.ts')).openBullmq(options),
  },
  'pg-boss': {
    ...{ title: 'pg-boss', namespace: 'pgboss', ...POSTGRES },
    open: async (options) => (await import('./postgres/pgBoss.ts')).openPgBoss(options),
  },
  'graphile-worker': {
    ...{ title: 'Graphile Worker', namespace: 'graphile_worker', ...POSTGRES },
    open: async (options) => (await import('./postgres/graphileWorker.ts')).openGraphileWorker(options),
  },
  agenda: {
    ...{ title: 'Agenda', namespace: 'agendaJobs', namespaceIs: 'collection' },
    ...{ url: /^mongodb(?:\+srv)?:\/\//, example: 'mongodb://host/database' },
    open: async (options) => (await import('./agenda/source.ts')).openAgenda(options),
  },
}
