export { webhookHandler } from './deliver/handler.ts'
export type { WebhookHandlerOptions } from './deliver/options.ts'
export type { WebhookOutput } from './deliver/response.ts'
export type { HostSecret, Secret, Secrets } from './deliver/secrets.ts'
export {
  DeliveryFailedError,
  DeliveryRejectedError,
  DeliveryTimeoutError,
  EndpointNotFoundError,
  SecretMissingError,
  SecretRefusedError,
  SignatureInvalidError,
  SsrfBlockedError,
  UnsendableError,
  WebhookGoneError,
} from './errors.ts'
export type { EventWebhook } from './feed/deliveries.ts'
export type { DisabledReason, Endpoint, EndpointChange, EndpointStore, NewEndpoint } from './feed/endpoint.ts'
export { type EndpointSecrets, EventWebhooks, type EventWebhooksOptions } from './feed/eventWebhooks.ts'
export { MemoryEndpointStore } from './feed/memoryStore.ts'
export { type WebhookData, type WebhookMethod, webhookJob } from './job.ts'
export { isPrivate, PRIVATE_RANGES } from './safety/addresses.ts'
export type { Lookup } from './safety/connector.ts'
export { type ReceivedHeaders, type SignatureHeaders, sign, verify, type WebhookSecret } from './signature.ts'
