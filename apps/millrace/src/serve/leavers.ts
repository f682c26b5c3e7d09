/**
 * Warns of entries that have left the configuration and still have an effect: the daemon applies its configuration at each start, and deletes
 * nothing, because a file that was read in error would take everything.
 */
import { createHash } from 'node:crypto'
import type { Engine, QueueView, Schedule } from '@millrace/client'
import type { Logger } from '@millrace/core'
import type { Endpoint } from '@millrace/webhooks'
import type { Config } from '../config/schema/schema.ts'
import type { Control } from '../control/control.ts'

/** The sections whose entries are stored, and outlive the daemon that has set them. */
export type Lasting = 'queues' | 'schedules' | 'endpoints'

const PROCESS = 'has an effect only in the daemon that has read it'
const STARTED = 'says where the daemon keeps and serves its jobs, and is not stored'

/** States for each setting and section of the configuration if its entries are remembered, and why not. */
export const SECTIONS: Readonly<Record<keyof Config, { readonly remembered: true } | { readonly notBecause: string }>> = {
  queues: { remembered: true },
  schedules: { remembered: true },
  endpoints: { remembered: true },
  ...notBecause(STARTED, ['file', 'postgres', 'schema', 'role', 'ownerAddress', 'transport', 'share', 'listen']),
  ...notBecause(PROCESS, ['durability', 'recovery', 'waitForOwner', 'readers', 'cache', 'maxQueues', 'maxDataBytes', 'secureDelete']),
  ...notBecause(PROCESS, ['autoMigrate', 'unsafeFilesystem', 'sockets', 'retention', 'defaults', 'tls', 'http', 'log', 'otel', 'exec']),
  ...notBecause(PROCESS, ['execLogs', 'webhooks', 'worker', 'shutdown']),
  fileAccess: { notBecause: 'is the mode of files, which millrace doctor shows' },
  token: { notBecause: 'is an admin token only while a configuration has it: it is never stored' },
}

function notBecause<Key extends keyof Config>(reason: string, keys: readonly Key[]) {
  return Object.fromEntries(keys.map((key) => [key, { notBecause: reason }])) as Record<Key, { readonly notBecause: string }>
}

/** The configuration of a start, and the memory of earlier ones. */
export interface Comparison {
  readonly config: Config
  readonly control: Control
  readonly logger: Logger
}

/** How to see the entries of a section, and what to warn of. */
interface Entries<Seen> {
  /** The names of the entries in the configuration. */
  readonly names: readonly string[]
  /** Returns the entry as it is now; undefined if it does not exist. */
  readonly see: (name: string) => Promise<Seen | undefined>
  /** Returns what differs once anybody else sets or changes the entry. */
  readonly markOf: (seen: Seen) => string
  /** Returns the warning; undefined if the entry has no effect now. */
  readonly warningOf: (
    name: string,
    seen: Seen,
  ) => { readonly message: string; readonly fields: Readonly<Record<string, unknown>> } | undefined
}

/**
 * Remembers the entries of this configuration, and warns of those that an earlier one has set and this one lacks. One that anybody has set or
 * changed since belongs to them; so does one that is in the configuration of another daemon of the file.
 */
async function compare<Seen>(section: Lasting, { config, control, logger }: Comparison, entries: Entries<Seen>): Promise<void> {
  const daemon = daemonOf(config)
  const rows = control.configured(section)
  const mine = rows.filter((row) => row.daemon === daemon && !entries.names.includes(row.name))
  const set = []
  const gone = []
  for (const name of entries.names) {
    const seen = await entries.see(name)
    if (seen !== undefined) set.push({ daemon, section, name, mark: entries.markOf(seen) })
  }
  for (const row of mine) {
    const seen = await entries.see(row.name)
    const isTheirs = rows.some((other) => other.name === row.name && other.daemon !== daemon)
    if (isTheirs || seen === undefined || entries.markOf(seen) !== row.mark) {
      gone.push(row)
      continue
    }
    const warning = entries.warningOf(row.name, seen)
    if (warning !== undefined) logger.warn(warning.message, warning.fields)
  }
  control.rememberConfigured(set, gone)
}

/** Two daemons of one file have addresses of their own, which stay the same from one start to the next. */
function daemonOf({ http: { enabled, host, port } }: Config): string {
  return enabled ? `${host}:${port}` : ''
}

export function compareSchedules(engine: Engine, comparison: Comparison): Promise<void> {
  return compare<Schedule>('schedules', comparison, {
    names: Object.keys(comparison.config.schedules),
    see: (id) => engine.schedules.get(id),
    markOf: ({ updatedAt }) => updatedAt.toISOString(),
    warningOf: (id, { paused, nextRunAt }) =>
      paused || nextRunAt === undefined
        ? undefined
        : {
            message: 'a schedule has left the configuration, and still creates jobs: delete it, or pause it',
            fields: { schedule: id, next: nextRunAt, command: `millrace schedules delete ${id}` },
          },
  })
}

/** Compares each setting of each queue, because a single one can leave. */
export function compareQueues(engine: Engine, comparison: Comparison): Promise<void> {
  const { queues } = comparison.config
  return compare<unknown>('queues', comparison, {
    names: Object.entries(queues).flatMap(([name, settings]) => pathsIn(settings).map((path) => `${name} ${path}`)),
    see: async (entry) => {
      const [name, path] = entry.split(' ') as [string, string]
      const view = await engine.queues.get(name)
      return view && settingOf(view, path)
    },
    markOf: (value) => JSON.stringify(value, (_key, each) => (each === Number.POSITIVE_INFINITY ? 'Infinity' : each)),
    warningOf: (entry, value) => {
      const [name, path] = entry.split(' ') as [string, string]
      // A queue that is not paused is as it would be without the setting.
      if (path === 'paused' && value === false) return undefined
      return {
        message: 'a setting of a queue has left the configuration, and stays in force: set it to its default, or to another value',
        fields: {
          queue: name,
          setting: path,
          value,
          command: path === 'paused' ? `millrace queues resume ${name}` : `millrace queues show ${name}`,
        },
      }
    },
  })
}

export function compareEndpoints(comparison: Comparison): Promise<void> {
  const { config, control } = comparison
  return compare<Endpoint>('endpoints', comparison, {
    names: Object.keys(config.endpoints),
    see: async (id) => (await control.endpoints.list()).find((endpoint) => endpoint.id === id),
    // Headers may be secret, so only a digest is stored.
    markOf: ({ url, secret, headers, events, queues, names, createdAt }) =>
      createHash('sha256')
        .update(JSON.stringify([url, secret, headers, events, queues, names, createdAt]))
        .digest('hex'),
    warningOf: (id, { enabled }) =>
      enabled
        ? {
            message: 'an endpoint has left the configuration, and still receives events: delete it, or disable it',
            fields: { endpoint: id, command: `millrace webhooks delete ${id}` },
          }
        : undefined,
  })
}

/** Returns the paths of the settings that are given: `maxLength`, `retention.failed`. */
function pathsIn({ retention, defaults, ...limits }: Config['queues'][string]): readonly string[] {
  const keysOf = (section: object, prefix: string) =>
    Object.entries(section).flatMap(([key, value]) => (value === undefined ? [] : [`${prefix}${key}`]))
  return [...keysOf(limits, ''), ...keysOf(retention, 'retention.'), ...keysOf(defaults, 'defaults.')]
}

function settingOf({ settings, paused }: QueueView, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], {
    ...settings,
    paused,
  })
}
