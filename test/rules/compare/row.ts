/** What docs/compare.md is written from: features, who has them, and the test that proves ours. */

/** In the order of the columns; `tier` is what the paid edition is called. */
export const PEERS = [
  { key: 'bullmq', name: 'BullMQ' },
  { key: 'pgBoss', name: 'pg-boss' },
  { key: 'graphile', name: 'graphile-worker' },
  { key: 'river', name: 'River' },
  { key: 'oban', name: 'Oban' },
  { key: 'sidekiq', name: 'Sidekiq' },
  { key: 'solid', name: 'Solid Queue' },
  { key: 'goodJob', name: 'good_job' },
  { key: 'hatchet', name: 'Hatchet' },
  { key: 'faktory', name: 'Faktory' },
] as const

export type Peer = (typeof PEERS)[number]['key']

/** The words in a row's list of peers, and what a cell shows for them. */
export const MARKS = { yes: '✓', partly: '◐', no: '–', Pro: 'Pro', Ent: 'Ent', Paid: 'Paid' } as const
export type Mark = keyof typeof MARKS

/** A file of tests, from the root of the repository, and words of the test in it. */
export type Proof = readonly [file: string, words: string]

/** One sentence for each peer whose cell needs one: every `partly` does. */
export type Notes = Readonly<Partial<Record<Peer, string>>>

export interface Row {
  readonly feature: string
  readonly own: 'yes' | 'partly' | 'no'
  readonly proof?: Proof
  /** Why we have it not, or in part alone. Links are from docs. */
  readonly why?: string
  /** One mark for each peer, in the order of `PEERS`. */
  readonly peers: string
  readonly notes: Notes
}

export interface Group {
  readonly name: string
  readonly rows: readonly Row[]
}

export const has = (feature: string, peers: string, proof: Proof, notes: Notes = {}): Row => ({ feature, own: 'yes', proof, peers, notes })

export const partly = (feature: string, peers: string, proof: Proof, why: string, notes: Notes = {}): Row => ({
  feature,
  own: 'partly',
  proof,
  why,
  peers,
  notes,
})

export const lacks = (feature: string, peers: string, why: string, notes: Notes = {}): Row => ({ feature, own: 'no', why, peers, notes })

export const marksOf = ({ peers }: Row): readonly string[] => peers.split(' ')
