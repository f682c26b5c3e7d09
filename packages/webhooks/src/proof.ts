/**
 * Deliveries of EventWebhooks carry a proof that the feed has made them. Only a holder of the endpoint's secret can make one. It holds for
 * the job with the delivery's idempotency key alone. So a secret signs nothing that somebody else has enqueued under its name, and no
 * delivery a second time.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookData } from './job.ts'

/** Begins the input of a proof. The input of a webhook's signature begins with a job's id instead, so neither can serve as the other. */
const DOMAIN = 'millrace.delivery\n'

/** Returns the proof of a delivery, over all of its data and the idempotency key of its job. */
export function proofOf(key: Buffer, { proof: _proof, ...data }: WebhookData, jobKey: string | undefined): string {
  return digest(key, data, jobKey).toString('base64')
}

export function isProven(keys: readonly Buffer[], { proof = '', ...data }: WebhookData, jobKey: string | undefined): boolean {
  const given = Buffer.from(proof, 'base64')
  return keys.some((key) => {
    const wanted = digest(key, data, jobKey)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

function digest(
  key: Buffer,
  { url, method, headers, body, bytes, secret, timeout }: Omit<WebhookData, 'proof'>,
  jobKey: string | undefined,
): Buffer {
  return createHmac('sha256', key)
    .update(DOMAIN)
    .update(JSON.stringify([jobKey, url, method, headers, body, bytes, secret, timeout]))
    .digest()
}
