/** Webhooks for what happens to jobs: endpoints that subscribe to types of events. */
import type { Engine, EventStream } from '@millrace/client'
import {
  type Clock,
  checkKnown,
  type Duration,
  durationOption,
  type Logger,
  loggerOption,
  MillraceError,
  nameOption,
  OptionTypeError,
} from '@millrace/core'
import { systemClock } from '@millrace/worker'
import { type Keyring, keyring, type Secret } from '../deliver/secrets.ts'
import { EndpointNotFoundError } from '../errors.ts'
import { batchesOf } from './batches.ts'
import { cancelDeliveries, deleteDeliveries, prover, retryDeliveries } from './deliveries.ts'
import { type OnDisabled, tellDisabled } from './disabled.ts'
import {
  ENDPOINT_OPTIONS,
  type Endpoint,
  type EndpointStore,
  endpointIssue,
  type NewEndpoint,
  placeOf,
  refuseSharedSecret,
} from './endpoint.ts'
import { Feed, type FeedSettings } from './feed.ts'
import { headOf } from './head.ts'

export interface EventWebhooksOptions {
  /** Where endpoints are kept. */
  readonly endpoints: EndpointStore
  /**
   * Those of the workers that deliver, by their names: deliveries are made with them, so that a secret without hosts signs these and nothing
   * else. Default none: then the secrets of endpoints have hosts.
   */
  readonly secrets?: EndpointSecrets
  /** Of the deliveries; default `webhooks`. Its own events are told to nobody. */
  readonly queue?: string
  /** How long all deliveries to an endpoint fail before it is disabled: 1 m or more, or Infinity; default 5 days. */
  readonly disableAfter?: Duration
  /** Told once an endpoint is stored as disabled; nothing waits for it, so it may `remove`, `enable` and `stop`. Default: nobody is. */
  readonly onDisabled?: OnDisabled
  /** Told of endpoints that are disabled, and of feeds that fail or end. Default: nobody is. */
  readonly logger?: Logger
  /** @internal */
  readonly clock?: Clock
}

/** By name; or a function that finds them, undefined where there is none. */
export type EndpointSecrets = Readonly<Record<string, Secret>> | ((name: string) => Secret | undefined | Promise<Secret | undefined>)

const KNOWN = new Set(['endpoints', 'secrets', 'queue', 'disableAfter', 'onDisabled', 'logger', 'clock'])
const EVENTS_PER_BATCH = 500
const PAUSE_MIN_MS = 500
const PAUSE_MAX_MS = 30_000
/** Nothing comes after these from this engine. */
const OVER: ReadonlySet<string> = new Set(['ENGINE_STOPPED', 'ENGINE_FAILED', 'AUTH_FAILED', 'FORBIDDEN'])

export class EventWebhooks {
  readonly #settings: FeedSettings
  readonly #clock: Clock
  readonly #secretOf: Keyring
  #running: Promise<void> | undefined
  #stopping = false
  /** `start` was called while a stop was under way: the feed begins again when that is over. */
  #startsAgain = false
  /** Ends the question for the journal's end, which waits for a server that is away. */
  #asking = new AbortController()
  #stream: EventStream | undefined
  /** Resolves when the pass that runs has ended, however. */
  #current: Promise<void> = Promise.resolve()
  /** Of the pass to come: what has begun by then is not up to date any more. */
  #generation = 0
  /** Endpoints of the last pass: for them something may have come to the queue since the store was read. */
  #fed = new Set<string>()
  #wake = () => {}
  #failures = 0

  /** @throws OptionTypeError, OptionRangeError */
  constructor(engine: Engine, options: EventWebhooksOptions) {
    if (typeof engine?.events !== 'function') throw new OptionTypeError('engine', 'engine must be the result of openEngine or connect')
    checkKnown('EventWebhooks', options, KNOWN)
    const { endpoints, secrets = {}, queue = 'webhooks', disableAfter = '5d' } = options as EventWebhooksOptions
    const { onDisabled, logger, clock = systemClock } = options as EventWebhooksOptions
    for (const call of ['list', 'save', 'update', 'delete'] as const)
      if (typeof endpoints?.[call] !== 'function')
        throw new OptionTypeError('endpoints', 'endpoints must have list(), save(), update() and delete()')
    if (onDisabled !== undefined && typeof onDisabled !== 'function')
      throw new OptionTypeError('onDisabled', 'onDisabled must be a function')
    this.#clock = clock
    this.#secretOf = keyring(secrets)
    this.#settings = {
      prove: prover(this.#secretOf),
      engine,
      store: endpoints,
      queue: nameOption('queue', queue),
      disableAfterMs: durationOption('disableAfter', disableAfter, { min: 60_000, infinity: true }),
      onDisabled,
      logger: logger === undefined ? undefined : loggerOption('logger', logger),
      now: () => clock.read().wall,
    }
  }

  /**
   * Begins to feed endpoints from their cursors on, until `stop`. While a stop is under way, the feed begins when that is over. A store or an
   * engine in trouble is tried again; its errors are logged.
   */
  start(): void {
    if (this.#running === undefined) this.#begin()
    else if (this.#stopping) this.#startsAgain = true
  }

  #begin(): void {
    this.#startsAgain = false
    this.#stopping = false
    this.#asking = new AbortController()
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#startsAgain) this.#begin()
    })
  }

  /** Ends the feed; resolves when the cursors are saved. Deliveries in the queue are the worker's. */
  async stop(): Promise<void> {
    this.#startsAgain = false
    this.#stopping = true
    this.#asking.abort(new Error('the feed was stopped'))
    this.refresh()
    await this.#running
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * Reads the endpoints anew: to be called when the app, or another process, has changed or deleted some. What was fed meanwhile to one that
   * is disabled or gone is cancelled.
   */
  refresh(): void {
    this.#generation++
    void this.#stream?.return()
    this.#wake()
  }

  /**
   * Saves an endpoint that is told of what happens from now on. Of one that is there already it says anew what it is told, and where: that
   * one goes on where it is, and stays disabled where it is; what is left out is so no more. How deliveries to another URL end, which it
   * had before, is nothing to it any more.
   *
   * @throws OptionTypeError: no such endpoint could be delivered to, it says what no endpoint has, or its secret is another's; what the
   * store throws
   */
  async add(endpoint: NewEndpoint): Promise<Endpoint> {
    checkKnown('an endpoint', endpoint, ENDPOINT_OPTIONS)
    const { engine, store, now } = this.#settings
    const endpoints = await store.list()
    const before = endpoints.find(({ id }) => id === endpoint.id)
    const place =
      before === undefined ? { enabled: true, createdAt: new Date(now()), cursor: await headOf(engine) } : placeOf(before, endpoint.url)
    const added: Endpoint = { ...endpoint, ...place }
    const issue = endpointIssue(added)
    if (issue !== undefined) throw new OptionTypeError('endpoint', `of the endpoint, ${issue}`)
    refuseSharedSecret(added, endpoints)
    await this.#refuseOpenSecret(added)
    await store.save(added)
    this.refresh()
    return added
  }

  /**
   * Feeds an endpoint again: from now on, with what was cancelled when it was disabled deleted; with `replay` from where it was disabled, as
   * far as the journal has that, and with what was cancelled, which goes to the URL of now.
   *
   * @throws EndpointNotFoundError; what the store throws
   */
  async enable(id: string, { replay = false }: { readonly replay?: boolean } = {}): Promise<void> {
    const { engine, store, queue } = this.#settings
    const endpoint = await this.#known(id)
    if (!replay) await deleteDeliveries(engine, queue, id)
    const cursor = replay ? {} : { cursor: await headOf(engine) }
    await store.update([{ id, enabled: true, failingSince: undefined, disabledReason: undefined, ...cursor }])
    if (replay) await retryDeliveries(this.#settings, endpoint)
    this.refresh()
  }

  /**
   * Tells an endpoint nothing any more, until it is enabled again, and cancels what it has yet to be told.
   *
   * @throws EndpointNotFoundError; what the store throws
   */
  async disable(id: string): Promise<void> {
    await this.#known(id)
    await this.#settings.store.update([{ id, enabled: false, failingSince: undefined, disabledReason: undefined }])
    await this.#silence(id)
  }

  /** Deletes an endpoint, and cancels what it has yet to be told; answers whether there was one. */
  async remove(id: string): Promise<boolean> {
    const existed = await this.#settings.store.delete(id)
    await this.#silence(id)
    return existed
  }

  /** Jobs that others enqueue are signed with a secret that has hosts: what an endpoint hears with it need not be from here. */
  async #refuseOpenSecret({ secret }: Endpoint): Promise<void> {
    const known = secret === undefined ? undefined : await this.#secretOf(secret)
    if (known?.allows === undefined) return
    throw new OptionTypeError(
      'secret',
      `the secret '${secret}' has hosts, so jobs that others enqueue are signed with it, and an endpoint's has none: name another`,
    )
  }

  async #known(id: string): Promise<Endpoint> {
    const known = (await this.#settings.store.list()).find((endpoint) => endpoint.id === id)
    if (known === undefined) throw new EndpointNotFoundError(id)
    return known
  }

  /** What is being fed just now has come to the queue by the time that the pass has ended. */
  async #silence(id: string): Promise<void> {
    this.#fed.delete(id)
    this.refresh()
    await this.#current
    await cancelDeliveries(this.#settings.engine, this.#settings.queue, id)
  }

  async #run(): Promise<void> {
    this.#failures = 0
    while (!this.#stopping) {
      try {
        const pass = this.#pass()
        this.#current = pass.catch(() => {})
        await pass
      } catch (error) {
        if (this.#asking.signal.aborted && error === this.#asking.signal.reason) return
        const code = error instanceof MillraceError ? error.code : undefined
        const message = error instanceof Error ? error.message : String(error)
        if (code !== undefined && OVER.has(code)) {
          this.#settings.logger?.warn('event webhooks have ended with their engine', { code, message })
          return
        }
        this.#settings.logger?.warn('event webhooks are tried again', { code, message })
        await this.#pause(Math.min(PAUSE_MIN_MS * 2 ** this.#failures++, PAUSE_MAX_MS))
      }
    }
  }

  /** From what the store has to the next `refresh`. */
  async #pass(): Promise<void> {
    const generation = this.#generation
    const endpoints = await this.#enabled()
    await this.#silenceFormer(endpoints)
    const feed = new Feed(this.#settings, endpoints)
    if (feed.isEmpty) return this.#woken(generation)
    await feed.begin(await headOf(this.#settings.engine, this.#asking.signal))
    if (generation !== this.#generation) return
    const stream = this.#settings.engine.events({ after: feed.position, filter: { types: feed.types } })
    this.#stream = stream
    try {
      for await (const items of batchesOf(stream, EVENTS_PER_BATCH)) {
        await feed.handle(items)
        this.#failures = 0
        if (generation !== this.#generation || feed.isEmpty) break
      }
      // After a refresh the endpoints may be others: what was not saved is read again.
      if (this.#stopping) await feed.save()
    } finally {
      this.#stream = undefined
      await stream.return()
    }
  }

  /** Another process that has disabled or deleted an endpoint has cancelled what was in the queue by then; this one may have fed it since. */
  async #silenceFormer(endpoints: readonly Endpoint[]): Promise<void> {
    const fed = new Set(endpoints.map(({ id }) => id))
    for (const id of this.#fed) if (!fed.has(id)) await cancelDeliveries(this.#settings.engine, this.#settings.queue, id)
    this.#fed = fed
  }

  /** One that cannot be delivered to would hold up the others: it is disabled. */
  async #enabled(): Promise<readonly Endpoint[]> {
    const { store, logger } = this.#settings
    const enabled = (await store.list()).filter((endpoint) => endpoint.enabled)
    const sound = enabled.filter((endpoint) => {
      const issue = endpointIssue(endpoint)
      if (issue !== undefined) logger?.error('an endpoint of webhooks is none, and is disabled', { id: endpoint.id, issue })
      return issue === undefined
    })
    const wrong = enabled.filter((endpoint) => !sound.includes(endpoint))
    if (wrong.length > 0) await store.update(wrong.map(({ id }) => ({ id, enabled: false, disabledReason: 'invalid' })))
    for (const endpoint of wrong) void tellDisabled({ ...endpoint, disabledReason: 'invalid' }, this.#settings)
    return sound
  }

  async #woken(generation: number): Promise<void> {
    if (generation === this.#generation) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const forget = this.#clock.setTimer(ms, resolve)
      this.#wake = () => {
        forget()
        resolve()
      }
    })
  }
}
