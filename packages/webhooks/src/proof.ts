/**
 * Deliveries of EventWebhooks carry a proof that the feed has made them: only who has the secret of the endpoint can make one. So a secret
 * signs nothing that somebody else has enqueued under its name.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookData } from './job.ts'

/** No signature of a webhook begins so: the id of a job does. */
const DOMAIN = 'millrace.delivery\n'

/** Over all that a delivery has. */
export function proofOf(key: Buffer, { proof: _proof, ...data }: WebhookData): string {
  return digest(key, data).toString('base64')
}

export function isProven(keys: readonly Buffer[], { proof = '', ...data }: WebhookData): boolean {
  const given = Buffer.from(proof, 'base64')
  return keys.some((key) => {
    const wanted = digest(key, data)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

function digest(key: Buffer, { url, method, headers, body, bytes, secret, timeout }: Omit<WebhookData, 'proof'>): Buffer {
  return createHmac('sha256', key)
    .update(DOMAIN)
    .update(JSON.stringify([url, method, headers, body, bytes, secret, timeout]))
    .digest()
}
