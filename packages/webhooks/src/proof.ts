/**
 * Deliveries of EventWebhooks carry a proof that the feed has made them. Only a holder of the endpoint's secret can make one.
 * So a secret signs nothing that somebody else has enqueued under its name.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookData } from './job.ts'

/** Begins the input of a proof. The input of a webhook's signature begins with a job's id instead, so neither can serve as the other. */
const DOMAIN = 'millrace.delivery\n'

/** Returns the proof of a delivery, over all of its data. */
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
