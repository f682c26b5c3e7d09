/** What a delivery ends with, where it is not taken, and what `verify` throws. */
import { MillraceError, NonRetryableError } from '@millrace/core'

/** As NonRetryableError, which the worker knows it by; with a name and a code that say more, which its type would not allow. */
const Hopeless = NonRetryableError as unknown as new (message: string, options?: ErrorOptions) => Error

/** The target is not one that may be called: its scheme, port, user name or host, or a private address. Not tried again. */
export class SsrfBlockedError extends Hopeless {
  override readonly name = 'SsrfBlockedError'
  readonly code = 'SSRF_BLOCKED'
  readonly retryable = false
}

/** The receiver answered that it does not want this: a 4xx, or a redirect, which is never followed. Not tried again. */
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

/** 410: the receiver wants nothing any more. Not tried again. */
export class WebhookGoneError extends Hopeless {
  override readonly name = 'WebhookGoneError'
  readonly code = 'WEBHOOK_GONE'
  readonly retryable = false
  readonly status = 410
}

/** What cannot be sent as it is: a body beyond `maxBodyBytes`. Not tried again. */
export class UnsendableError extends Hopeless {
  override readonly name = 'UnsendableError'
  readonly code = 'UNSENDABLE'
  readonly retryable = false
}

/** 408, 425, 429 or 5xx without `Retry-After`, or a connection that failed (without `status`; `cause` is why). Tried again. */
export class DeliveryFailedError extends MillraceError {
  static readonly code = 'DELIVERY_FAILED'
  declare readonly status?: number
  constructor(message: string, details: { readonly status?: number } = {}, options?: ErrorOptions) {
    super(DeliveryFailedError.code, true, message, details, options)
  }
}

/** The whole answer has not come within `timeout`. Tried again. */
export class DeliveryTimeoutError extends MillraceError {
  static readonly code = 'DELIVERY_TIMEOUT'
  constructor(message: string) {
    super(DeliveryTimeoutError.code, true, message)
  }
}

/** The worker has no secret of the name that the job gives, or it is none. Tried again: a deploy may bring it. */
export class SecretMissingError extends MillraceError {
  static readonly code = 'SECRET_MISSING'
  constructor(message: string) {
    super(SecretMissingError.code, true, message)
  }
}

/** The secret that the job names is not for it: it is for other hosts, or for deliveries of endpoints alone. Nothing was sent. Not tried again. */
export class SecretRefusedError extends Hopeless {
  override readonly name = 'SecretRefusedError'
  readonly code = 'SECRET_REFUSED'
  readonly retryable = false
}

/** A webhook that is not signed with any of the secrets, or not now. */
export class SignatureInvalidError extends MillraceError {
  static readonly code = 'SIGNATURE_INVALID'
  constructor(message: string) {
    super(SignatureInvalidError.code, false, message)
  }
}

/** There is no endpoint of that id. */
export class EndpointNotFoundError extends MillraceError {
  static readonly code = 'ENDPOINT_NOT_FOUND'
  declare readonly endpointId: string
  constructor(endpointId: string) {
    super(EndpointNotFoundError.code, false, `there is no endpoint '${endpointId}'`, { endpointId })
  }
}
