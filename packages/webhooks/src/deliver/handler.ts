/** The handler of 'http' jobs: one request for each run. */

import { type Clock, durationOption, isError } from '@millrace/core'
import type { Context, InlineHandler } from '@millrace/worker'
import { Agent, buildConnector, request } from 'undici'
import { DeliveryFailedError, DeliveryTimeoutError, SsrfBlockedError, UnsendableError, WebhookGoneError } from '../errors.ts'
import { contentOf, type WebhookData, weakWebhookJob } from '../job.ts'
import { isPrivate } from '../safety/addresses.ts'
import { guardedConnector, guardedLookup } from '../safety/connector.ts'
import { checkTarget } from '../safety/target.ts'
import { signatureHeaders } from '../signature.ts'
import { BUSY, Hosts } from './hosts.ts'
import { type HandlerSettings, validateHandlerOptions, type WebhookHandlerOptions } from './options.ts'
import { failureOf } from './outcome.ts'
import { headersKept, readBody, type WebhookOutput } from './response.ts'
import { keysFor } from './secrets.ts'

/** The longest time that an idle connection is kept, whatever its receiver asks for. */
const KEEP_ALIVE_MAX_MS = 10_000
/** Up to this timeout a delivery sends no heartbeats: it ends within the job's own `timeout`, 5 m, including the wait for the host. */
const UNATTENDED_MS = 240_000
/** The time between two heartbeats. Each one is good for 2 m unless the job says otherwise. */
const BEAT_MS = 45_000

/**
 * Returns a handler for `engine.work`. Its connections close automatically soon after the last request.
 *
 * @example
 * ```ts
 * engine.work([webhookHandler()], { concurrency: 64 })
 * await engine.enqueue(webhookJob, { url: 'https://example.com/hook', body: { paid: true } })
 * ```
 * @throws OptionTypeError, OptionRangeError
 */
export function webhookHandler(options?: WebhookHandlerOptions): InlineHandler<WebhookData, WebhookOutput> {
  const settings = validateHandlerOptions(options)
  const agent = agentOf(settings)
  const hosts = new Hosts({ perHost: settings.perHost, waitMs: settings.hostWaitMs, clock: settings.clock })
  const { maxAttempts, backoff } = options ?? {}
  const definition = weakWebhookJob({ ...(maxAttempts !== undefined && { maxAttempts }), ...(backoff !== undefined && { backoff }) })
  const run = async (context: Context<WebhookData>): Promise<WebhookOutput> => {
    const url = new URL(context.data.url)
    checkTarget(url, settings)
    const output = await hosts.run(url.host, context.signal, () => deliver(url, context, settings, agent))
    return output === BUSY ? context.snooze(settings.hostWaitMs) : output
  }
  return { kind: 'inline', definition, run }
}

/** Builds its own agent, so that no proxy of the environment and no dispatcher of the process has an effect. */
function agentOf({ allowPrivate, connectTimeoutMs, lookup, ca, perHost }: HandlerSettings): Agent {
  const refuses = allowPrivate ? () => false : isPrivate
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(lookup, refuses),
    ...(ca !== undefined && { ca }),
  } as Parameters<typeof buildConnector>[0])
  // `exchange` limits the total time. A receiver may choose how long a connection is kept, within limits.
  const bounds = { connections: perHost, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS }
  return new Agent({ ...bounds, connect: guardedConnector(connect, refuses) })
}

async function deliver(url: URL, context: Context<WebhookData>, settings: HandlerSettings, agent: Agent): Promise<WebhookOutput> {
  const { retryAfter, ...output } = await exchange(url, context, settings, agent)
  const { status, body } = output
  const failure = failureOf({ status, body, retryAfter, host: url.host }, settings.clock.read().wall)
  if (failure === undefined) return output
  if (failure instanceof WebhookGoneError) await tellGone(context, settings)
  throw failure
}

type Exchange = WebhookOutput & { readonly retryAfter: string | undefined }

/** Sends one request and reads its answer within the timeout. Stops when the job's signal aborts. */
async function exchange(url: URL, context: Context<WebhookData>, settings: HandlerSettings, agent: Agent): Promise<Exchange> {
  const { data, signal } = context
  const { clock, maxResponseBytes } = settings
  const { content, headers } = await prepared(url, context, settings)
  const { timeoutMs, why } = timeoutOf(data, settings)
  const ending = new AbortController()
  const stop = () => ending.abort(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const late = () => ending.abort(new DeliveryTimeoutError(`${url.host} has not answered within ${timeoutMs} ms${why}`))
  const forget = clock.setTimer(timeoutMs, late)
  const still = timeoutMs > UNATTENDED_MS ? beating(context, clock) : undefined
  const began = clock.read().mono
  try {
    const { method = 'POST' } = data
    const body = method === 'GET' || method === 'HEAD' ? null : content
    const response = await request(url, { dispatcher: agent, method, headers, body, signal: ending.signal })
    const kept = await readBody(response.body, maxResponseBytes)
    return {
      status: response.statusCode,
      headers: headersKept(response.headers),
      ...kept,
      durationMs: Math.round(clock.read().mono - began),
      retryAfter: response.headers['retry-after']?.toString(),
    }
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : unreachable(error, url)
  } finally {
    forget()
    still?.()
    signal.removeEventListener('abort', stop)
  }
}

/** Returns the timeout that applies. A job cannot exceed the worker's limit, and its timeout error then says so. */
function timeoutOf(
  { timeout }: WebhookData,
  { timeoutMs, maxTimeoutMs }: HandlerSettings,
): { readonly timeoutMs: number; readonly why: string } {
  const asked = timeout === undefined ? timeoutMs : durationOption('timeout', timeout)
  if (asked <= maxTimeoutMs) return { timeoutMs: asked, why: '' }
  return { timeoutMs: maxTimeoutMs, why: ` (the job asks for ${asked} ms, and this worker allows ${maxTimeoutMs}: raise its maxTimeout)` }
}

/** Extends the job's deadline for as long as the delivery runs. Returns a function that stops this. */
function beating(context: Context<WebhookData>, clock: Clock): () => void {
  let forget = () => {}
  const wait = () => {
    forget = clock.setTimer(BEAT_MS, beat)
  }
  const beat = () => {
    // A run that no longer holds its job learns that from its signal.
    context.heartbeat().catch(() => {})
    wait()
  }
  wait()
  return () => forget()
}

/** Calls the option `gone`. If it fails, that is logged, and the job ends as it would have. */
async function tellGone({ data, job, log }: Context<WebhookData>, { gone }: HandlerSettings): Promise<void> {
  try {
    await gone?.(data.url, job)
  } catch (error) {
    log('error', `the option gone has failed: ${isError(error) ? error.message : String(error)}`)
  }
}

/** Returns the body to send, and its headers. */
async function prepared(url: URL, { data, job }: Context<WebhookData>, settings: HandlerSettings) {
  const { keyring, clock, maxBodyBytes, userAgent, propagate } = settings
  const { content, type, size } = contentOf(data)
  if (size > maxBodyBytes) {
    throw new UnsendableError(`the body has ${size} bytes, and at most ${maxBodyBytes} are sent: raise maxBodyBytes, or send where it is`)
  }
  const keys = await keysFor(keyring, data, { url, job })
  const { 'webhook-signature': signature, ...identity } = signatureHeaders(keys, job.id, Math.floor(clock.read().wall / 1_000), content)
  const headers: Record<string, string> = { ...propagate(), 'user-agent': userAgent, ...(type !== undefined && { 'content-type': type }) }
  for (const [name, value] of Object.entries(data.headers ?? {})) headers[name.toLowerCase()] = value
  Object.assign(headers, identity, keys.length > 0 && { 'webhook-signature': signature })
  Object.assign(headers, {
    'millrace-job-id': job.id,
    'millrace-job-name': job.name,
    'millrace-queue': job.queue,
    'millrace-attempt': String(job.attempt),
  })
  return { content, headers }
}

/** Turns every connection failure into a DeliveryFailedError, except for a blocked address. */
function unreachable(error: unknown, url: URL): unknown {
  if (error instanceof SsrfBlockedError) return error
  const { code, message } = error as NodeJS.ErrnoException
  return new DeliveryFailedError(`${url.host} could not be reached: ${code ?? message}`, {}, { cause: error })
}
