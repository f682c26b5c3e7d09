/** Roughly the bytes of a call: what is under way, and what waits, is bounded by them. */
import { type Command, dataBytes, type FlowNode, type NewJob, type RunError, weighJob } from '@millrace/core'

export function weighCommand(command: Command): number {
  switch (command.op) {
    case 'enqueue':
      return weighJobs(command.jobs)
    case 'forward':
      return command.entries.reduce((bytes, { jobs }) => bytes + weighJobs(jobs), 0)
    case 'flow':
      return weighNodes(command.nodes)
    case 'complete':
      return dataBytes(command.output) + (command.enqueues === undefined ? 0 : weighJobs(command.enqueues))
    case 'checkpoint':
      return dataBytes(command.value)
    case 'update':
      return dataBytes(command.changes.data) + dataBytes(command.changes.checkpoint)
    case 'upsertSchedule':
      return weighJob(command.job)
    case 'fail':
      return weighError(command.error)
    case 'log': {
      let bytes = 0
      for (const { message, fields } of command.lines) bytes += message.length + (fields?.length ?? 0)
      return bytes
    }
    default:
      return 0
  }
}

function weighError({ message, stack = '', code = '', cause = [] }: RunError): number {
  let bytes = message.length + stack.length + code.length
  for (const each of cause) bytes += each.name.length + each.message.length + (each.code?.length ?? 0)
  return bytes
}

export function weighJobs(jobs: readonly NewJob[]): number {
  let bytes = 0
  for (const job of jobs) bytes += weighJob(job)
  return bytes
}

export function weighNodes(nodes: readonly FlowNode[]): number {
  let bytes = 0
  for (const { ref, job, parents } of nodes) bytes += weighJob(job) + ref.length + 4 * parents.length
  return bytes
}
