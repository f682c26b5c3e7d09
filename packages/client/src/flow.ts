/** Checks, orders and encodes the nodes of flows, and of batches, which are flows of one shape. */
import {
  type CommandOf,
  checkCommandSize,
  checkKnown,
  type Enqueued,
  type FlowNodeOptions,
  type FlowOptions,
  formatId,
  type NewJob,
  type OnParentFailure,
  OptionRangeError,
  OptionTypeError,
  type OrderedNode,
  orderNodes,
  validateFlowOptions,
  weighCommand,
} from '@millrace/core'
import type { JobOrName, JobRequest, OutputOf } from '@millrace/worker'
import { newJobsOf } from './enqueueMany.ts'
import type { JobHandle } from './handle.ts'
import type { Mailbox } from './mailbox.ts'

/** The place of a node in its flow. */
export interface FlowPlace<Ref extends string = string, Refs extends string = string> extends Omit<FlowNodeOptions, 'ref' | 'dependsOn'> {
  /** Names the node within its flow: 1 to 512 characters. */
  readonly ref: Ref
  /** The refs of the nodes that it waits for; default none. */
  readonly dependsOn?: readonly NoInfer<Refs>[]
}

/** One node of `flow`. Its options cannot have `idempotencyKey`, `unique`, `debounce` or `throttle`: the flow has a key as a whole. */
export type FlowNodeRequest<Ref extends string = string, Job extends JobOrName = JobOrName> = JobRequest<Job> & FlowPlace<Ref, Ref>

/**
 * The nodes of a flow, each with the data of its own definition. Each half infers the fields that it names, and leaves
 * the rest to the other.
 */
export type FlowNodes<Refs extends readonly string[], Jobs extends readonly JobOrName[], All extends string = Refs[number]> = {
  readonly [Index in keyof Refs]: FlowPlace<Refs[Index], All> & Unchecked<'job' | 'data' | 'options'>
} & { readonly [Index in keyof Jobs]: JobRequest<Jobs[Index]> & Unchecked<keyof FlowPlace> }

type Unchecked<Field extends string> = { readonly [Name in Field]?: unknown }

/** The handles of a flow's jobs by their refs. */
export interface Flow<Jobs extends Readonly<Record<string, JobHandle>> = Readonly<Record<string, JobHandle>>> {
  /** The id of the flow's first job. */
  readonly id: string
  readonly jobs: Jobs
}

/** Maps each ref to its handle. In a flow of no fixed length, every ref maps to a handle of all outputs. */
export type FlowHandles<Refs extends readonly string[], Jobs extends readonly JobOrName[]> = number extends Refs['length']
  ? Readonly<Record<Refs[number], JobHandle<OutputOf<Jobs[number]>>>>
  : { readonly [Index in Exclude<keyof Refs, keyof []> as Refs[Index] & string]: JobHandle<OutputOf<Jobs[Index & keyof Jobs]>> }

/** The jobs of a batch, and the job that starts when they have ended. */
export interface Batch<Jobs extends readonly JobHandle[] = readonly JobHandle[], Callback = unknown> {
  readonly id: string
  /** The handles of the jobs, in order. */
  readonly jobs: Jobs
  readonly callback: JobHandle<Callback>
}

/** The jobs of a batch that start by how its other jobs end: one of them at least. */
export interface BatchCallbacks {
  /** Runs when all jobs have completed. It is cancelled at the first one that fails, is cancelled or is deleted. */
  readonly onSuccess?: JobRequest
  /** Runs at the first job that fails, is cancelled or is deleted. If all complete, it is cancelled, and leaves no row. */
  readonly onFailure?: JobRequest
  /** Runs when all jobs have ended, in any state. */
  readonly onEnd?: JobRequest
}

/** The jobs of a batch, and those that start by how they end. */
export interface BatchWithCallbacks<
  Jobs extends readonly JobHandle[] = readonly JobHandle[],
  Callbacks = Readonly<Record<string, JobHandle>>,
> {
  readonly id: string
  /** The handles of the jobs, in order. */
  readonly jobs: Jobs
  readonly callbacks: Callbacks
}

/** Callbacks, each with the data of its own definition. */
export type CheckedCallbacks<Callbacks> = {
  readonly [Name in keyof Callbacks]: Name extends keyof BatchCallbacks
    ? Callbacks[Name] extends { readonly job: infer Job extends JobOrName }
      ? JobRequest<Job>
      : Callbacks[Name]
    : never
}

/** The handles of the callbacks that a batch was given. */
export type CallbackHandles<Callbacks extends BatchCallbacks> = {
  readonly [Name in keyof Callbacks & keyof BatchCallbacks]: Callbacks[Name] extends { readonly job: infer Job extends JobOrName }
    ? JobHandle<OutputOf<Job>>
    : never
}

interface FlowCall {
  readonly command: CommandOf<'flow'>
  /** Refs in the order of the command's nodes. */
  readonly refs: readonly string[]
}

export async function createFlow(
  nodes: readonly FlowNodeRequest[],
  options: FlowOptions | undefined,
  maxDataBytes: number,
  calls: Pick<Mailbox, 'call'>,
  handleOf: (key: Enqueued) => JobHandle,
): Promise<Flow> {
  const { command, refs } = await flowCommand(nodes, options, maxDataBytes)
  const first = await calls.call<'flow'>(command)
  const jobs = Object.fromEntries(refs.map((ref, place) => [ref, handleOf({ ...first, seq: first.seq + place })]))
  return { id: formatId(first), jobs }
}

/** Creates a batch. `after` is its callback, or its callbacks by how it ends. */
export async function createBatch(
  jobs: readonly JobRequest[],
  after: JobRequest | BatchCallbacks,
  create: (nodes: readonly FlowNodeRequest[]) => Promise<Flow>,
): Promise<Batch | BatchWithCallbacks> {
  if (!Array.isArray(jobs))
    throw new OptionTypeError('jobs', 'batch takes an array of { job, data, options }, and the job that runs when they have ended')
  const callbacks = callbacksOf(jobs, after)
  const { id, jobs: handles } = await create(batchNodes(jobs, callbacks))
  const own = { id, jobs: jobs.map((_, index) => handles[index] as JobHandle) }
  const only = handles[CALLBACK_REF]
  if (only !== undefined) return { ...own, callback: only }
  return { ...own, callbacks: Object.fromEntries(callbacks.map(({ ref }) => [ref, handles[ref] as JobHandle])) }
}

async function flowCommand(nodes: readonly FlowNodeRequest[], options: FlowOptions | undefined, maxDataBytes: number): Promise<FlowCall> {
  // Check the count before anything else: a million nodes are refused at once.
  if (Array.isArray(nodes)) checkCommandSize('flow', nodes.length, 0)
  const settings = validateFlowOptions(options)
  const order = orderNodes(nodes)
  const requests = order.map(({ index }) => {
    const { job, data, options: own } = nodes[index] as FlowNodeRequest
    return { job, data, options: own } as JobRequest
  })
  const jobs = await newJobsOf(requests, maxDataBytes)
  const placed = order.map((node, place) => ({
    ref: node.ref,
    job: keyless(jobs[place] as NewJob, node),
    parents: node.parents,
    onFailure: node.onFailure,
  }))
  checkCommandSize('flow', placed.length, weighCommand({ op: 'flow', nodes: placed }))
  return { command: { op: 'flow', nodes: placed, ...settings }, refs: order.map(({ ref }) => ref) }
}

/** Refuses keys: an earlier job that a key matches waits for no other job, and none could wait for it. */
function keyless(job: NewJob, { index, ref }: OrderedNode): NewJob {
  for (const option of ['idempotencyKey', 'unique', 'debounce', 'throttle'] as const) {
    if (job[option] === undefined) continue
    const message = `nodes[${index}] ('${ref}') has the option '${option}', which a job of a flow cannot have: give the flow an idempotencyKey as a whole`
    throw new OptionTypeError(option, message)
  }
  return job
}

const CALLBACK_REF = 'callback'
const CALLBACKS: Readonly<Record<keyof BatchCallbacks, OnParentFailure>> = { onSuccess: 'cancel', onFailure: 'run', onEnd: 'continue' }

interface Callback {
  readonly ref: string
  readonly request: JobRequest
  readonly onParentFailure: OnParentFailure
}

/** @throws OptionTypeError, OptionRangeError */
function callbacksOf(jobs: readonly JobRequest[], after: JobRequest | BatchCallbacks): readonly Callback[] {
  if (typeof after !== 'object' || after === null)
    throw new OptionTypeError('callback', 'the callback of a batch must be { job, data, options }, or { onSuccess, onFailure, onEnd }')
  if ('job' in after) return [{ ref: CALLBACK_REF, request: after, onParentFailure: 'continue' }]
  checkKnown('callbacks', after, new Set(Object.keys(CALLBACKS)))
  const given = Object.entries(CALLBACKS).flatMap(([ref, onParentFailure]): Callback[] => {
    const request = (after as BatchCallbacks)[ref as keyof BatchCallbacks]
    return request === undefined ? [] : [{ ref, request, onParentFailure }]
  })
  if (given.length === 0)
    throw new OptionTypeError(
      'callback',
      'the callback of a batch must be { job, data, options }, or { onSuccess, onFailure, onEnd }, one of them at least',
    )
  if (jobs.length === 0 && after.onFailure !== undefined)
    throw new OptionRangeError('jobs', 1, 'a batch with onFailure must have at least one job: none can fail')
  return given
}

/** Returns the nodes of a batch. The refs of its jobs are their places, from 0. */
function batchNodes(jobs: readonly JobRequest[], callbacks: readonly Callback[]): FlowNodeRequest[] {
  checkCommandSize('batch', jobs.length + callbacks.length, 0)
  const nodes = jobs.map((job, index): FlowNodeRequest => ({ ...job, ref: `${index}` }))
  const dependsOn = nodes.map(({ ref }) => ref)
  return [...nodes, ...callbacks.map(({ ref, request, onParentFailure }) => ({ ...request, ref, dependsOn, onParentFailure }))]
}
