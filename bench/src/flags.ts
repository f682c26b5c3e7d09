/** The flags that throughput.ts and peers.ts share. */
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countFlag, secondsFlag } from './amounts.ts'
import { EXPERIMENTS } from './experiments/list.ts'
import { FEATURES } from './features.ts'
import { HANDLERS } from './handlers.ts'
import { PEERS } from './peers/list.ts'

const OPTIONS = {
  only: { type: 'string', multiple: true },
  feature: { type: 'string', multiple: true },
  handler: { type: 'string', multiple: true },
  repetitions: { type: 'string' },
  jobs: { type: 'string' },
  'growth-max': { type: 'string' },
  sustained: { type: 'string' },
  peers: { type: 'boolean' },
  peer: { type: 'string', multiple: true },
  'peer-jobs': { type: 'string' },
  packages: { type: 'string', default: '' },
  folder: { type: 'string', default: tmpdir() },
  json: { type: 'string' },
  save: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export interface Flags {
  readonly only: readonly string[]
  readonly features: readonly string[]
  readonly handlers: readonly string[]
  readonly otherProcess: boolean
  readonly repetitions: number
  readonly jobs: number
  readonly idleJobs: number
  readonly syncJobs: number
  readonly growthMax: number
  readonly sustainedSeconds: number
  readonly peers: readonly string[]
  readonly peerJobs: number
  readonly packages: string
  readonly folder: string
  readonly json: string | undefined
  readonly save: boolean
  readonly help: boolean
}

const HANDLER_NAMES = HANDLERS.map(({ name }) => name)

/** What holds where no flag says otherwise. */
export interface Defaults {
  readonly only: readonly string[]
  readonly peers: boolean
  /** Handlers in another process too. */
  readonly otherProcess: boolean
}

const USUAL = { repetitions: '3', jobs: '200k', growthMax: '1m', peerJobs: '20k', idleJobs: 2_000, syncJobs: 5_000 }
/** To see that everything runs; the figures mean little. */
const QUICK = { repetitions: '1', jobs: '5k', growthMax: '10k', peerJobs: '1k', idleJobs: 100, syncJobs: 500 }

export function parseFlags(args: readonly string[], defaults: Defaults): Flags {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const usual = values.quick ? QUICK : USUAL
  const jobs = countFlag('jobs', values.jobs ?? usual.jobs)
  const withPeers = values.peers ?? (values.peer !== undefined || defaults.peers)
  return {
    only: names('only', values.only, EXPERIMENTS) ?? defaults.only,
    features: withPiece('feature', values.feature, Object.keys(FEATURES)),
    handlers: withPiece('handler', values.handler, HANDLER_NAMES),
    otherProcess: defaults.otherProcess,
    repetitions: countFlag('repetitions', values.repetitions ?? usual.repetitions),
    jobs,
    idleJobs: Math.min(jobs, usual.idleJobs),
    syncJobs: Math.min(jobs, usual.syncJobs),
    growthMax: countFlag('growth-max', values['growth-max'] ?? usual.growthMax, 0),
    sustainedSeconds: values.sustained === undefined ? 0 : secondsFlag('sustained', values.sustained),
    peers: withPeers ? (names('peer', values.peer, PEERS) ?? PEERS.map(({ name }) => name)) : [],
    peerJobs: countFlag('peer-jobs', values['peer-jobs'] ?? usual.peerJobs),
    packages: values.packages,
    // Servers of other systems run in folders of their own.
    folder: resolve(values.folder),
    json: values.json,
    save: values.save,
    help: values.help,
  }
}

/** `--only a --only b` and `--only a,b` are the same. */
function names(
  flag: string,
  given: readonly string[] | undefined,
  known: readonly { readonly name: string }[],
): readonly string[] | undefined {
  if (given === undefined) return undefined
  const wanted = given.flatMap((text) => text.split(','))
  const unknown = wanted.find((name) => !known.some((one) => one.name === name))
  if (unknown !== undefined) throw new RangeError(`--${flag} knows no '${unknown}': ${known.map(({ name }) => name).join(', ')}`)
  return wanted
}

/** Their names are long: a piece of one will do. */
function withPiece(flag: string, pieces: readonly string[] = [''], all: readonly string[]): readonly string[] {
  const unknown = pieces.find((piece) => !all.some((name) => name.includes(piece)))
  if (unknown !== undefined) throw new RangeError(`--${flag} knows no '${unknown}': ${all.join('; ')}`)
  return all.filter((name) => pieces.some((piece) => name.includes(piece)))
}

export const FLAGS_HELP = `  --only NAME         measure only this (again, or with commas, for more): ${EXPERIMENTS.map(({ name }) => name).join(', ')}
  --feature TEXT      of the features only those with this in their names (again for more)
  --handler TEXT      of the handlers only those with this in their names (again for more): ${HANDLER_NAMES.join('; ')}
  --repetitions N     runs of each; medians are told (${USUAL.repetitions})
  --jobs N            jobs per run (${USUAL.jobs}); also 5000, 1m
  --growth-max N      the largest backlog, in steps of ten from 100k on (${USUAL.growthMax}); 0 for none
  --sustained TIME    also flat out for so long: 90s, 10m, 1h
  --peers             other queues too
  --peer NAME         only this one (again, or with commas, for more): ${PEERS.map(({ name }) => name).join(', ')}
  --peer-jobs N       jobs per run of a peer (${USUAL.peerJobs}); slow ones get fewer
  --packages FOLDER   where further peers' packages were installed by hand
  --folder FOLDER     where the database files are written, on the disk to be measured (the system's folder for temporary files)
  --json FILE         the result, with every run and setting
  --save              the result as a dated file in bench/results
  --quick             few jobs, one repetition: to see that it runs
  --help              this`
