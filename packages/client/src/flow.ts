/** Checks, orders and encodes the nodes of flows, and of batches, which are flows of one shape. */
import {
  type CommandOf,
  checkCommandSize,
  type Enqueued,
  type FlowNodeOptions,
  type FlowOptions,
  formatId,
  type NewJob,
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

export async function createBatch(
  jobs: readonly JobRequest[],
  callback: JobRequest,
  options: FlowOptions | undefined,
  maxDataBytes: number,
  calls: Pick<Mailbox, 'call'>,
  handleOf: (key: Enqueued) => JobHandle,
): Promise<Batch> {
  const { id, jobs: handles } = await createFlow(batchNodes(jobs, callback), options, maxDataBytes, calls, handleOf)
  return { id, jobs: jobs.map((_, index) => handles[index] as JobHandle), callback: handles[CALLBACK_REF] as JobHandle }
}

async function flowCommand(nodes: readonly FlowNodeRequest[], options: FlowOptions | undefined, maxDataBytes: number): Promise<FlowCall> {
  // Check the count before anything else: a million nodes are refused at once.
  if (Array.isArray(nodes)) checkCommandSize('nodes', nodes.length, 0)
  const settings = validateFlowOptions(options)
  const order = orderNodes(nodes)
  const requests = order.map(({ index }) => nodes[index] as FlowNodeRequest)
  const jobs = await newJobsOf(requests, maxDataBytes)
  const placed = order.map((node, place) => ({
    ref: node.ref,
    job: keyless(jobs[place] as NewJob, node),
    parents: node.parents,
    onFailure: node.onFailure,
  }))
  checkCommandSize('nodes', placed.length, weighCommand({ op: 'flow', nodes: placed }))
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

/** Returns the nodes of a batch. The refs of its jobs are their places, from 0. */
function batchNodes(jobs: readonly JobRequest[], callback: JobRequest): FlowNodeRequest[] {
  if (!Array.isArray(jobs))
    throw new OptionTypeError('jobs', 'batch takes an array of { job, data, options }, and the job that runs when they have ended')
  if (typeof callback !== 'object' || callback === null)
    throw new OptionTypeError('callback', 'the callback of a batch must be { job, data, options }')
  checkCommandSize('jobs', jobs.length + 1, 0)
  const nodes = jobs.map((job, index): FlowNodeRequest => ({ ...job, ref: `${index}` }))
  return [...nodes, { ...callback, ref: CALLBACK_REF, dependsOn: nodes.map(({ ref }) => ref), onParentFailure: 'continue' }]
}
