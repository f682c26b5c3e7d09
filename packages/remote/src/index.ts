/** What a process needs that shares its engine, or uses one of another process: `listen`, `connect`, definitions, errors. */

export type * from '@millrace/client'
export { Engine, JobHandle } from '@millrace/client'
export {
  AuthFailedError,
  ConnectionLostError,
  DrainIncompleteError,
  ForbiddenError,
  InvalidScheduleError,
  MillraceError,
  NonRetryableError,
  NotWritableError,
  OptionRangeError,
  OptionTypeError,
  ProtocolError,
  QueueDrainingError,
  QueueFullError,
  QueueNotEmptyError,
  RetryAfterError,
  ScheduleNotFoundError,
  TooLargeError,
  VersionMismatchError,
} from '@millrace/core'
export type { Scope } from '@millrace/wire'
export {
  type BatchItem,
  type BatchOutcome,
  type Context,
  type Definition,
  defineJob,
  type Handler,
  type JobInfo,
  type JobType,
  type Worker,
} from '@millrace/worker'
export { connect, connectPort } from './client/connect.ts'
export type { ClientTlsOptions, ConnectOptions, JournalFolder, ReconnectOptions } from './client/options.ts'
export type { RemotePort } from './client/remotePort.ts'
export type { Surroundings } from './clock.ts'
export {
  AddressInUseError,
  ConnectFailedError,
  InsecureBindError,
  JournalDamagedError,
  JournalFullError,
  JournalInUseError,
} from './errors.ts'
export { bootId } from './process.ts'
export { listen } from './server/listen.ts'
export type { Authenticate, ListenOptions, ServerTlsOptions, TokenOption } from './server/options.ts'
export type { RemoteServer, Shareable } from './server/server.ts'
export { LIBRARY, PROTOCOL } from './version.ts'
