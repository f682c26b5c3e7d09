/** The table of the queues to import from. */
import type { ImportSource } from './options.ts'
import type { Source, SourceOptions } from './source.ts'

export interface SourceKind {
  /** Its name for people. */
  readonly title: string
  /** The default of `namespace`. */
  readonly namespace: string
  /** The form of its URL. */
  readonly url: RegExp
  readonly example: string
  /** Connects to the store. @throws SourceError */
  connect(options: SourceOptions): Promise<Source>
}

const POSTGRES = { url: /^postgres(?:ql)?:\/\//, example: 'postgres://user@host/database' } as const

/** Each loads its file, and the client of its store, only if it is used. */
export const SOURCES: Readonly<Record<ImportSource, SourceKind>> = {
  bullmq: {
    ...{ title: 'BullMQ', namespace: 'bull', url: /^rediss?:\/\//, example: 'redis://host:6379' },
    connect: async (options) => (await import('./bullmq/source.ts')).connectBullmq(options),
  },
  'pg-boss': {
    ...{ title: 'pg-boss', namespace: 'pgboss', ...POSTGRES },
    connect: async (options) => (await import('./postgres/pgBoss.ts')).connectPgBoss(options),
  },
  'graphile-worker': {
    ...{ title: 'Graphile Worker', namespace: 'graphile_worker', ...POSTGRES },
    connect: async (options) => (await import('./postgres/graphileWorker.ts')).connectGraphileWorker(options),
  },
  agenda: {
    ...{ title: 'Agenda', namespace: 'agendaJobs', url: /^mongodb(?:\+srv)?:\/\//, example: 'mongodb://host/database' },
    connect: async (options) => (await import('./agenda/source.ts')).connectAgenda(options),
  },
}
