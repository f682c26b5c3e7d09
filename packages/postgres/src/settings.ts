/** The settings of the server for connections of Millrace. */
import type { StoreOptions } from './options.ts'

type Settings = Readonly<Record<string, string>>

/** Plans must not turn with statistics: every statement has an index for what it looks up. @param part the part of Millrace that connects */
export function planSettings(schema: string, part?: string): Settings {
  return {
    application_name: `millrace ${schema}${part === undefined ? '' : ` (${part})`}`,
    search_path: schema,
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    statement_timeout: '10s',
  }
}

export function ownerSettings(schema: string, durability: StoreOptions['durability']): Settings {
  return {
    ...planSettings(schema),
    synchronous_commit: durability === 'full' ? 'on' : 'off',
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: '10s',
    // An owner beats more often. The session of one that stands still or whose machine is gone ends, and with it the lock.
    idle_session_timeout: '10s',
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '2',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '10000',
  }
}

/** Returns the statements that make these settings. */
export function setUpOf(settings: Settings): readonly string[] {
  return Object.entries(settings).map(([name, value]) => `SET ${name} TO '${value}'`)
}
