/** Errors of deliveries that are not accepted, and of `verify`. */
import { define, NonRetryableError } from '@millrace/core'

/** NonRetryableError, which the worker recognizes, with a type that allows subclasses a more specific name and code. */
const Hopeless = NonRetryableError as unknown as new (message: string, options?: ErrorOptions) => Error

/** The target may not be called because of its scheme, port, user name, host or private address. Not retried. */
export class SsrfBlockedError extends Hopeless {
  override readonly name = 'SsrfBlockedError'
  readonly code = 'SSRF_BLOCKED'
  readonly retryable = false
}

/** The receiver refused the delivery: it answered with a 4xx, or with a redirect, which is never followed. Not retried. */
export class DeliveryRejectedError extends Hopeless {
  override readonly name = 'DeliveryRejectedError'
  readonly code = 'DELIVERY_REJECTED'
  readonly retryable = false
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** The receiver answered 410: it wants no more deliveries. Not retried. */
export class WebhookGoneError extends Hopeless {
  override readonly name = 'WebhookGoneError'
  readonly code = 'WEBHOOK_GONE'
  readonly retryable = false
  readonly status = 410
}

/** The delivery cannot be sent as it is: its body exceeds `maxBodyBytes`. Not retried. */
export class UnsendableError extends Hopeless {
  override readonly name = 'UnsendableError'
  readonly code = 'UNSENDABLE'
  readonly retryable = false
}

/** The receiver answered 408, 425, 429 or 5xx without `Retry-After`, or the connection failed (no `status`; see `cause`). Retried. */
export class DeliveryFailedError extends define('DELIVERY_FAILED', { retryable: true }) {
  declare readonly status?: number
}

/** The complete answer did not arrive within `timeout`. Retried. */
export class DeliveryTimeoutError extends define('DELIVERY_TIMEOUT', { retryable: true }) {}

/** The worker has no valid secret with the name that the job gives. Retried: a deploy may add it. */
export class SecretMissingError extends define('SECRET_MISSING', { retryable: true }) {}

/** The secret that the job names is for other hosts, or only for deliveries of endpoints. Nothing was sent. Not retried. */
export class SecretRefusedError extends Hopeless {
  override readonly name = 'SecretRefusedError'
  readonly code = 'SECRET_REFUSED'
  readonly retryable = false
}

/** The webhook lacks valid signature headers, no signature matches, or its time is too far from now. */
export class SignatureInvalidError extends define('SIGNATURE_INVALID') {}

/** There is no endpoint with that id. */
export class EndpointNotFoundError extends define('ENDPOINT_NOT_FOUND', { category: 'not-found' }) {
  declare readonly endpointId: string
  constructor(endpointId: string) {
    super(`there is no endpoint '${endpointId}'`, { endpointId })
  }
}
