/** What the API asks of whoever tells endpoints of events: `EventWebhooks` of @millrace/webhooks with its store does that. */
import type { EventType } from '@millrace/core'

export interface NewWebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly events: readonly EventType[]
  readonly queues?: readonly string[]
  readonly names?: readonly string[]
}

export interface WebhookEndpoint extends NewWebhookEndpoint {
  readonly enabled: boolean
  readonly createdAt: Date
  readonly cursor: number
  readonly failingSince?: Date | undefined
  readonly disabledReason?: string | undefined
}

export interface WebhookEndpoints {
  list(): Promise<readonly WebhookEndpoint[]>
  /** One of its id goes on where it is, as it is said now. */
  add(endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint>
  enable(id: string, options: { readonly replay?: boolean }): Promise<void>
  disable(id: string): Promise<void>
  /** Answers whether there was one. */
  remove(id: string): Promise<boolean>
}
