/** The kinds of jobs in the demo, a shop's: where they wait, who runs them, how long they take, and how they fail. */
import type { EnqueueOptions } from '@millrace/core'
import { pick } from './random.ts'

export interface Fault {
  /** The share of the runs that fail with this error. */
  readonly share: number
  readonly name: string
  readonly message: string
  /** True if another attempt would not help. */
  readonly isFinal?: true
}

export interface Kind {
  readonly name: string
  readonly queue: string
  /** The worker that runs it; undefined if none does. */
  readonly worker?: string
  /** The average number of new jobs in a minute, beside those of flows and schedules. */
  readonly perMinute: number
  readonly runMs: readonly [least: number, most: number]
  readonly faults?: readonly Fault[]
  /** True if its runs report their progress. */
  readonly steps?: true
  readonly data: (random: () => number, number: number) => Readonly<Record<string, unknown>>
  readonly options?: (data: Readonly<Record<string, unknown>>) => EnqueueOptions
}

/** The workers, with the number of jobs that each runs at the same time. */
export const WORKERS: Readonly<Record<string, number>> = { 'mail-1': 6, 'media-1': 4, 'shop-1': 8 }

const SHOPS = ['berlin', 'lisbon', 'oslo', 'turin', 'york'] as const
const PEOPLE = ['ada', 'alan', 'barbara', 'edsger', 'grace', 'ken', 'leslie', 'margaret'] as const

const orderOf = (random: () => number, number: number) => ({
  order: 10_000 + number,
  customer: pick(random, PEOPLE),
  shop: pick(random, SHOPS),
})
const mailOf = (random: () => number, number: number) => ({ to: `${pick(random, PEOPLE)}@example.com`, order: 10_000 + number })

export const KINDS: readonly Kind[] = [
  {
    name: 'send-receipt',
    queue: 'mail',
    worker: 'mail-1',
    perMinute: 36,
    runMs: [60, 500],
    faults: [{ share: 0.03, name: 'SmtpError', message: '451 4.3.0 mailbox temporarily unavailable' }],
    data: mailOf,
    options: ({ to }) => ({ tags: [`to:${to as string}`] }),
  },
  {
    name: 'newsletter',
    queue: 'mail',
    worker: 'mail-1',
    perMinute: 14,
    runMs: [40, 200],
    data: (random) => ({ to: `${pick(random, PEOPLE)}@example.com`, issue: 'November' }),
    options: () => ({ priority: -10 }),
  },
  {
    name: 'resize-photo',
    queue: 'images',
    worker: 'media-1',
    perMinute: 18,
    runMs: [500, 4_000],
    steps: true,
    faults: [{ share: 0.03, name: 'DecodeError', message: 'unsupported colour profile', isFinal: true }],
    data: (random, number) => ({ photo: `photos/${number}.jpg`, width: pick(random, [320, 800, 1_600]), shop: pick(random, SHOPS) }),
    options: ({ shop }) => ({ concurrencyKey: shop as string }),
  },
  {
    name: 'charge-card',
    queue: 'billing',
    worker: 'shop-1',
    perMinute: 8,
    runMs: [200, 1_500],
    faults: [
      { share: 0.05, name: 'CardDeclinedError', message: 'card declined: insufficient funds', isFinal: true },
      { share: 0.06, name: 'GatewayTimeoutError', message: 'the payment gateway did not answer within 5 s' },
    ],
    data: (random, number) => ({ ...orderOf(random, number), cents: 500 + Math.floor(random() * 20_000) }),
    options: ({ order }) => ({ idempotencyKey: `order-${order as number}`, tags: [`order:${order as number}`] }),
  },
  {
    name: 'sync-invoice',
    queue: 'billing',
    worker: 'shop-1',
    perMinute: 5,
    runMs: [100, 800],
    faults: [{ share: 0.5, name: 'ConnectionError', message: 'connect ECONNREFUSED 10.0.4.17:5432' }],
    data: orderOf,
  },
  {
    name: 'index-product',
    queue: 'search',
    worker: 'shop-1',
    perMinute: 20,
    runMs: [20, 120],
    data: (random) => ({ product: Math.floor(random() * 900), shop: pick(random, SHOPS) }),
  },
  {
    name: 'rebuild-synonyms',
    queue: 'search',
    perMinute: 0.5,
    runMs: [100, 100],
    data: () => ({ language: 'pt' }),
    options: () => ({ unique: { key: 'synonyms' } }),
  },
  {
    name: 'import-catalogue',
    queue: 'imports',
    worker: 'shop-1',
    perMinute: 4,
    runMs: [2_000, 9_000],
    steps: true,
    data: (random, number) => ({ file: `catalogue-${number}.csv`, shop: pick(random, SHOPS) }),
  },
  {
    name: 'build-report',
    queue: 'reports',
    worker: 'media-1',
    perMinute: 1.5,
    runMs: [6_000, 25_000],
    steps: true,
    faults: [{ share: 0.08, name: 'QueryError', message: 'canceling statement due to statement timeout' }],
    data: (random) => ({ about: pick(random, ['sales', 'returns', 'stock']), shop: pick(random, SHOPS) }),
  },
  ...['reserve-stock', 'pack-order', 'ship-order'].map(
    (name): Kind => ({
      name,
      queue: 'orders',
      worker: 'shop-1',
      perMinute: 0,
      runMs: [300, 3_000],
      faults: [{ share: 0.04, name: 'OutOfStockError', message: 'the last item was sold', isFinal: true }],
      data: orderOf,
    }),
  ),
  {
    name: 'ping-gateway',
    queue: 'default',
    worker: 'shop-1',
    perMinute: 0,
    runMs: [20, 60],
    data: () => ({}),
  },
]

export function kindNamed(name: string): Kind {
  const kind = KINDS.find((each) => each.name === name)
  if (kind === undefined) throw new RangeError(`there is no kind '${name}'`)
  return kind
}
