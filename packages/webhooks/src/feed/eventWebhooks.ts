/** Webhooks for events: endpoints that subscribe to types of events. */
import type { Engine, EventStream, JobRequest } from '@millrace/client'
import {
  type Clock,
  checkKnown,
  type Duration,
  durationOption,
  isError,
  isErrorOf,
  type Logger,
  loggerOption,
  nameOption,
  OptionTypeError,
} from '@millrace/core'
import { apart, systemClock } from '@millrace/worker'
import { type Keyring, keyring, type Secret } from '../deliver/secrets.ts'
import { EndpointNotFoundError } from '../errors.ts'
import { batchesOf } from './batches.ts'
import { cancelDeliveries, deleteDeliveries, prover, retryDeliveries, testDelivery } from './deliveries.ts'
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

/** The options of `eventWebhooks`. */
export interface EventWebhooksOptions {
  /** The store of endpoints. */
  readonly endpoints: EndpointStore
  /**
   * The secrets of the workers that deliver, by name. Deliveries are proven with them, so a secret without hosts signs only
   * these. Default none: then the secrets of endpoints need hosts.
   */
  readonly secrets?: EndpointSecrets
  /** The queue of the deliveries; default `webhooks`. Endpoints do not receive the events of its jobs. */
  readonly queue?: string
  /** The time for which all deliveries to an endpoint fail before it is disabled: 1 m or more, or Infinity; default 5 days. */
  readonly disableAfter?: Duration
  /** Called after an endpoint is stored as disabled. Nothing waits for it, so it may `remove`, `enable` and `stop`. Default none. */
  readonly onDisabled?: OnDisabled
  /** Logs endpoints that are disabled, and feeds that fail or end. Default none. */
  readonly logger?: Logger
  /** @internal */
  readonly clock?: Clock
}

/** Secrets by name, or a function that finds them and returns undefined if there is none. */
export type EndpointSecrets = Readonly<Record<string, Secret>> | ((name: string) => Secret | undefined | Promise<Secret | undefined>)

const KNOWN = new Set(['endpoints', 'secrets', 'queue', 'disableAfter', 'onDisabled', 'logger', 'clock'])
const EVENTS_PER_BATCH = 500
const PAUSE_MIN_MS = 500
const PAUSE_MAX_MS = 30_000
/** Codes of errors after which this engine sends nothing more. */
const OVER: ReadonlySet<string> = new Set(['ENGINE_STOPPED', 'ENGINE_FAILED', 'AUTH_FAILED', 'FORBIDDEN'])

/** Sends events to endpoints until it is closed. */
export class EventWebhooks {
  readonly #settings: FeedSettings
  readonly #clock: Clock
  readonly #secretOf: Keyring
  #running: Promise<void> | undefined
  #stopping = false
  /** True if `start` was called while a stop was under way. The feed starts again when the stop is over. */
  #startsAgain = false
  /** Ends the request for the journal's end, which waits while a server is away. */
  #asking = new AbortController()
  #stream: EventStream | undefined
  /** Resolves when the current pass has ended, successfully or not. */
  #current: Promise<void> = Promise.resolve()
  /** The generation of the next pass. A pass that began in an earlier one is out of date. */
  #generation = 0
  /** Endpoints of the last pass. Their deliveries may have been enqueued since the store was read. */
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
   * Starts to feed endpoints from their cursors, until `stop`. While a stop is under way, the feed starts when that is over. If
   * a store or an engine fails, the feed logs the error and tries again.
   */
  start(): void {
    if (this.#running === undefined) this.#begin()
    else if (this.#stopping) this.#startsAgain = true
  }

  #begin(): void {
    this.#startsAgain = false
    this.#stopping = false
    this.#asking = new AbortController()
    this.#running = apart(() => this.#run()).finally(() => {
      this.#running = undefined
      if (this.#startsAgain) this.#begin()
    })
  }

  /** Ends the feed, and resolves when the cursors are saved. The worker still runs the deliveries in the queue. */
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
   * Reads the endpoints again. Call it when the app, or another process, has changed or deleted some. Cancels deliveries that
   * were enqueued meanwhile for an endpoint that is disabled or deleted.
   */
  refresh(): void {
    this.#generation++
    void this.#stream?.return()
    this.#wake()
  }

  /**
   * Saves an endpoint that receives events from now on. If its id exists, the new settings replace the old ones, and omitted
   * ones are removed. That endpoint keeps its position, and stays disabled if it is. Deliveries to a former URL no longer
   * affect it, however they end.
   *
   * @throws OptionTypeError if the endpoint is invalid, has an unknown option, or names a secret that another endpoint has or
   * that has hosts; what the store throws
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
   * Enables an endpoint from now on, and deletes the deliveries that were cancelled when it was disabled. With `replay`, it
   * resumes where it was disabled, as far back as the journal goes, and the cancelled deliveries go to the current URL.
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
   * Disables an endpoint until it is enabled again, and cancels its pending deliveries.
   *
   * @throws EndpointNotFoundError; what the store throws
   */
  async disable(id: string): Promise<void> {
    await this.#known(id)
    await this.#settings.store.update([{ id, enabled: false, failingSince: undefined, disabledReason: undefined }])
    await this.#silence(id)
  }

  /**
   * Sends an event of the type `test` to an endpoint, enabled or not, and returns the id of its delivery: a job that is tried once. How it
   * ends counts for the health of the endpoint, as that of any delivery.
   *
   * @throws EndpointNotFoundError; what the store throws
   */
  async test(id: string): Promise<string> {
    const { engine, queue, prove, now } = this.#settings
    const [request] = await prove([testDelivery(await this.#known(id), queue, now())])
    const { job, data, options } = request as JobRequest<string>
    return (await engine.enqueue(job, data, options)).id
  }

  /** Deletes an endpoint, and cancels its pending deliveries. Resolves with true if the endpoint existed. */
  async remove(id: string): Promise<boolean> {
    const existed = await this.#settings.store.delete(id)
    await this.#silence(id)
    return existed
  }

  /** Refuses a secret that has hosts. It also signs jobs of other producers, so it does not prove that a webhook is from here. */
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

  /** Cancels the deliveries of an endpoint. Waits for the current pass first, because its deliveries are in the queue only then. */
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
        const code = isErrorOf(error, 'MillraceError') ? error.code : undefined
        const message = isError(error) ? error.message : String(error)
        if (code !== undefined && OVER.has(code)) {
          this.#settings.logger?.warn('event webhooks have ended with their engine', { code, message })
          return
        }
        this.#settings.logger?.warn('event webhooks are tried again', { code, message })
        await this.#pause(Math.min(PAUSE_MIN_MS * 2 ** this.#failures++, PAUSE_MAX_MS))
      }
    }
  }

  /** Feeds the endpoints that the store has, until the next `refresh`. */
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
      // After a refresh the endpoints may differ. Events behind the saved cursors are read again.
      if (this.#stopping) await feed.save()
    } finally {
      this.#stream = undefined
      await stream.return()
    }
  }

  /** Cancels again for endpoints that another process has disabled or deleted. This one may have enqueued deliveries since. */
  async #silenceFormer(endpoints: readonly Endpoint[]): Promise<void> {
    const fed = new Set(endpoints.map(({ id }) => id))
    for (const id of this.#fed) if (!fed.has(id)) await cancelDeliveries(this.#settings.engine, this.#settings.queue, id)
    this.#fed = fed
  }

  /** Returns the enabled endpoints. Disables invalid ones, because they would hold up the others. */
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
