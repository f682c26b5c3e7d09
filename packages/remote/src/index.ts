/** The API for a process that shares its engine, or uses the engine of another one: `listen`, `connect`, definitions, errors. */

export * from '@millrace/client/public'
export type { Permit, Scope } from '@millrace/core'
export { connect } from './client/connect.ts'
export type { ClientTlsOptions, ConnectOptions, JournalFolder, ReconnectOptions } from './client/options.ts'
export type { SharedSecret } from './credentials.ts'
export {
  AddressInUseError,
  ConnectFailedError,
  InsecureBindError,
  JournalDamagedError,
  JournalFullError,
  JournalInUseError,
} from './errors.ts'
export { listen } from './server/listen.ts'
export type { Authenticate, ListenOptions, ServerTlsOptions, TokenOption } from './server/options.ts'
export type { RemoteServer, Shareable } from './server/server.ts'
export type { AuditedCall } from './server/trail.ts'
