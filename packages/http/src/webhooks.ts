/** The endpoints that the API requires. `EventWebhooks` of @millrace/webhooks, with its store, implements this. */
import type { EventType } from '@millrace/core'

/** An endpoint for event webhooks, as a caller creates it. */
export interface NewWebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly events: readonly EventType[]
  readonly queues?: readonly string[]
  readonly names?: readonly string[]
}

/** An endpoint for event webhooks. */
export interface WebhookEndpoint extends NewWebhookEndpoint {
  readonly enabled: boolean
  readonly createdAt: Date
  readonly cursor: number
  readonly failingSince?: Date | undefined
  readonly disabledReason?: string | undefined
}

/** The endpoints for event webhooks, which the host stores. */
export interface WebhookEndpoints {
  list(): Promise<readonly WebhookEndpoint[]>
  /** Adds an endpoint. A known id gets these settings, and continues at its position. */
  add(endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint>
  enable(id: string, options: { readonly replay?: boolean }): Promise<void>
  disable(id: string): Promise<void>
  /** Sends a test to an endpoint, and resolves with the id of the job that delivers it. Without it, tests are refused. */
  test?(id: string): Promise<string>
  /** Resolves with true if the endpoint existed. */
  remove(id: string): Promise<boolean>
}
