/** The handler of 'http' jobs: one request for each run. */

import { type Clock, durationOption } from '@millrace/core'
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

/** Of an idle connection, whatever its receiver says. */
const KEEP_ALIVE_MAX_MS = 10_000
/** A delivery that may take no longer ends within the job's own `timeout`, 5 m, which has the wait for the host in it. */
const UNATTENDED_MS = 240_000
/** Between two heartbeats, each of which is good for 2 m unless the job says otherwise. */
const BEAT_MS = 45_000

/**
 * A handler for `engine.work`. What it holds of connections ends by itself soon after the last request.
 *
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

/** Made here, so that no proxy of the environment and no dispatcher of the process has a say. */
function agentOf({ allowPrivate, connectTimeoutMs, lookup, ca, perHost }: HandlerSettings): Agent {
  const refuses = allowPrivate ? () => false : isPrivate
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(lookup, refuses),
    ...(ca !== undefined && { ca }),
  } as Parameters<typeof buildConnector>[0])
  // The time of the whole is kept by `deliver`; for how long a connection is kept a receiver may say within limits.
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

/** One request and its answer, within the time; ended with the job. */
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

/** What a job asks for beyond the worker's bound is not given, and its error says so. */
function timeoutOf(
  { timeout }: WebhookData,
  { timeoutMs, maxTimeoutMs }: HandlerSettings,
): { readonly timeoutMs: number; readonly why: string } {
  const asked = timeout === undefined ? timeoutMs : durationOption('timeout', timeout)
  if (asked <= maxTimeoutMs) return { timeoutMs: asked, why: '' }
  return { timeoutMs: maxTimeoutMs, why: ` (the job asks for ${asked} ms, and this worker allows ${maxTimeoutMs}: raise its maxTimeout)` }
}

/** Moves the job's deadline ahead for as long as the delivery goes on. Answers what ends it. */
function beating(context: Context<WebhookData>, clock: Clock): () => void {
  let forget = () => {}
  const wait = () => {
    forget = clock.setTimer(BEAT_MS, beat)
  }
  const beat = () => {
    // A run that is no longer this one hears so by its signal.
    context.heartbeat().catch(() => {})
    wait()
  }
  wait()
  return () => forget()
}

/** Who is told may fail: the job ends as it would. */
async function tellGone({ data, job, log }: Context<WebhookData>, { gone }: HandlerSettings): Promise<void> {
  try {
    await gone?.(data.url, job)
  } catch (error) {
    log('error', `the option gone has failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What is sent: the body, and the headers over it. */
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

/** Whatever went wrong with the connection is the same to the job, but for where it was not to lead. */
function unreachable(error: unknown, url: URL): unknown {
  if (error instanceof SsrfBlockedError) return error
  const { code, message } = error as NodeJS.ErrnoException
  return new DeliveryFailedError(`${url.host} could not be reached: ${code ?? message}`, {}, { cause: error })
}
