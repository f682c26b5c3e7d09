/** Reads a flow of BullMQ: a job that waits for its children, with all of them that have yet to end. */
import type { FlowNodeRequest } from '@millrace/client'
import { type EnqueueOptions, LIMITS } from '@millrace/core'
import { UnfitError } from '../errors.ts'
import { dataOf } from '../mapping.ts'
import { deduplicationOf, delayAfterChildren, type Feature, jobOf, type OnFailure, onFailureOf } from './job.ts'
import { delayedUntil, type Keys } from './keys.ts'
import type { Hash, RedisReader } from './redis.ts'

export interface TranslatedFlow {
  readonly nodes: readonly FlowNodeRequest[]
  readonly uses: ReadonlySet<Feature>
}

interface Reading {
  readonly redis: RedisReader
  readonly keys: Keys
  readonly includeActive: boolean
}

/** A job of the flow, with what Redis says of it. */
interface Member {
  readonly key: string
  readonly hash: Hash
  readonly children: readonly string[]
  readonly ended: Hash
  readonly failed: Hash
  readonly delayedScore: string | null
  readonly isActive: boolean
  readonly hasFailed: boolean
}

/** The length of the results of ended children, as JSON: `meta` holds 16 KiB. */
const RESULTS_LENGTH = 15_000

/** @param root the key of a job that waits for children, and for which no other job waits. @throws UnfitError */
export async function flowOf(root: string, options: Reading): Promise<TranslatedFlow> {
  const members = new Map<string, Member>()
  for (let level = [root]; level.length > 0; ) {
    const read = await membersOf(level, options)
    for (const member of read) members.set(member.key, member)
    level = read.flatMap(({ children }) => children).filter((key) => !members.has(key))
    if (members.size + level.length > LIMITS.jobsPerCommand)
      throw new UnfitError(`its flow has more than ${LIMITS.jobsPerCommand} jobs, the limit of a flow in Millrace`)
  }
  const uses = new Set<Feature>()
  return { nodes: [...members.values()].map((member) => nodeOf(member, members, uses, options)), uses }
}

const ASKED = 8

async function membersOf(level: readonly string[], { redis, keys }: Reading): Promise<readonly Member[]> {
  const answers = await redis.ask(
    level.flatMap((key) => {
      const place = keys.split(key)
      if (place === undefined) throw new UnfitError(`its flow has a job under another prefix: ${key}`)
      const { queue, id } = place
      return [
        ['hgetall', key],
        ['smembers', `${key}:dependencies`],
        ['hgetall', `${key}:processed`],
        ['hgetall', `${key}:failed`],
        ['zscore', keys.of(queue, 'delayed'), id],
        ['lpos', keys.of(queue, 'active'), id],
        ['zscore', keys.of(queue, 'failed'), id],
        ['zcard', `${key}:unsuccessful`],
      ] as const
    }),
  )
  return level.map((key, index) => {
    const [hash, children, ended, failed, delayedScore, active, failedScore, unsuccessful] = answers.slice(index * ASKED) as [
      ...[Hash, string[], Hash, Hash, string | null, number | null, string | null, number],
    ]
    const hasFailed = failedScore !== null || unsuccessful > 0
    return { key, hash, children, ended, failed, delayedScore, isActive: active !== null, hasFailed }
  })
}

function nodeOf(member: Member, members: ReadonlyMap<string, Member>, uses: Set<Feature>, { keys, includeActive }: Reading) {
  const { key, hash, children, isActive, hasFailed } = member
  if (hash['name'] === undefined) throw new UnfitError(`a job of its flow no longer exists: ${key}`)
  if (isActive && !includeActive) throw new UnfitError(`a worker has a job of its flow, ${key}: include active jobs to import it`)
  if (hasFailed) throw new UnfitError(`its flow has a job that failed, ${key}: BullMQ never completes this flow`)
  const { queue } = keys.split(key) as { readonly queue: string }
  const translated = jobOf(queue, hash)
  for (const feature of translated.uses) uses.add(feature)
  if (deduplicationOf(hash) !== undefined) uses.add('deduplication in a flow')
  const node: FlowNodeRequest = {
    ...translated.job,
    ref: key,
    options: { ...translated.job.options, ...timeOf(member, uses), ...resultsOf(member, uses) },
  }
  if (children.length === 0) return node
  return { ...node, dependsOn: children, onParentFailure: commonOf(children.map((child) => (members.get(child) as Member).hash)) }
}

function timeOf({ hash, children, delayedScore }: Member, uses: Set<Feature>): EnqueueOptions {
  const delay = delayAfterChildren(hash)
  if (children.length > 0) return delay > 0 ? { delay } : {}
  if (delayedScore === null) return {}
  uses.add('delay')
  return { runAt: delayedUntil(Number(delayedScore)) }
}

/** Returns the results of the children that have ended, which no job of the flow here has. */
function resultsOf({ ended, failed }: Member, uses: Set<Feature>): EnqueueOptions {
  const results = Object.entries(ended)
  const failures = Object.entries(failed)
  if (results.length + failures.length === 0) return {}
  uses.add('finished children')
  const children = {
    ...Object.fromEntries(results.map(([key, text]) => [key, { output: dataOf(text) }])),
    ...Object.fromEntries(failures.map(([key, error]) => [key, { error }])),
  }
  const { length } = JSON.stringify(children)
  if (length > RESULTS_LENGTH)
    throw new UnfitError(`the results of its ended children have ${length} characters, and ${RESULTS_LENGTH} fit: let BullMQ end the flow`)
  return { meta: { children } }
}

function commonOf(children: readonly Hash[]): OnFailure {
  const [first, ...others] = new Set(children.map(onFailureOf))
  if (first === undefined || others.length > 0)
    throw new UnfitError('its children have different failure options, but in Millrace all children share one')
  return first
}
