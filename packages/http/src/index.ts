export type { InstanceColour, InstanceOptions, Scope } from '@millrace/core'
export type { Caller } from './access/caller.ts'
export type {
  AuditAnswer,
  CreatedTokenAnswer,
  EventAnswer,
  ExplanationAnswer,
  FailuresAnswer,
  FlowAnswer,
  FlowListAnswer,
  HistoryAnswer,
  JobAnswer,
  JobPageAnswer,
  ManyAnswer,
  PurgeAnswer,
  QueueAnswer,
  QueueKeysAnswer,
  QueueListAnswer,
  ScheduleAnswer,
  SchedulePageAnswer,
  StatsAnswer,
  TokenListAnswer,
  WebhookListAnswer,
  WorkersAnswer,
} from './answers.ts'
export type { AuditEntry } from './audit.ts'
export { createHttp, type HttpApi } from './createHttp.ts'
export type { DashboardFile, DashboardOptions, SampleOptions } from './dashboard/options.ts'
export type { OpenApiDocument } from './document.ts'
export type { HttpOptions, HttpTokenOption } from './options.ts'
export type { SocketPlace } from './sockets.ts'
export type { AuditedCall, NewToken, TokenFacts, TokenStore } from './tokens.ts'
export type { NewWebhookEndpoint, WebhookEndpoint, WebhookEndpoints } from './webhooks.ts'
