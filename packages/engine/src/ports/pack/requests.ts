/** Packs requests on their way to the writer: a column of numbers and, in the same order, all other values. */
import type { Data, NewJob, Request, StepCommand } from '@millrace/core'
import { NumberColumn, NumberReader, type Numbers } from './columns.ts'

/** Codes of requests. Each is followed by the request's id and by the values that are named here. */
const ANY = 0 // values: command
const ENQUEUE = 1 // values: name, data
const ENQUEUE_SAME_NAME = 2 // values: data
const ENQUEUE_OPTIONS = 3 // values: name, data, the rest of the job
const ENQUEUE_SAME_OPTIONS = 4 // values: data
const COMPLETE = 5 // numbers: seq, run
const COMPLETE_OUTPUT = 6 // numbers: seq, run; values: output
const STEP = 7 // numbers: seq, run, number, asked, startedAt; values: name, value

export interface PackedRequests {
  readonly numbers: Numbers
  readonly values: readonly unknown[]
}

const column = new NumberColumn()

export function packRequests(requests: readonly Request[]): PackedRequests {
  const values: unknown[] = []
  let lastName: string | undefined
  let lastJob: NewJob | undefined
  for (const { id, command } of requests) {
    if (command.op === 'complete' && command.enqueues === undefined) {
      column.push(command.output === null ? COMPLETE : COMPLETE_OUTPUT)
      column.push(id)
      column.push(command.seq)
      column.push(command.run)
      if (command.output !== null) values.push(command.output)
    } else if (command.op === 'enqueue' && command.jobs.length === 1) {
      const job = command.jobs[0] as NewJob
      if (lastJob !== undefined && isSameButData(job, lastJob)) {
        column.push(ENQUEUE_SAME_OPTIONS)
        values.push(job.data)
      } else if (!isPlain(job)) {
        lastJob = job
        const { name, data, ...rest } = job
        column.push(ENQUEUE_OPTIONS)
        values.push(name, data, rest)
      } else if (job.name === lastName) {
        column.push(ENQUEUE_SAME_NAME)
        values.push(job.data)
      } else {
        lastName = job.name
        column.push(ENQUEUE)
        values.push(job.name, job.data)
      }
      column.push(id)
    } else if (command.op === 'step' && command.kind === 'step' && command.error === undefined) {
      column.push(STEP)
      column.push(id)
      column.push(command.seq)
      column.push(command.run)
      column.push(command.number)
      column.push(command.asked)
      column.push(command.startedAt)
      values.push(command.name, command.value)
    } else {
      column.push(ANY)
      column.push(id)
      values.push(command)
    }
  }
  return { numbers: column.take(), values }
}

export function unpackRequests({ numbers, values }: PackedRequests): Request[] {
  const requests: Request[] = []
  const reader = new NumberReader(numbers)
  let next = 0
  let lastName = ''
  let lastJob: NewJob | undefined
  while (!reader.done) {
    const code = reader.take()
    const id = reader.take()
    switch (code) {
      case COMPLETE:
        requests.push({ id, command: { op: 'complete', seq: reader.take(), run: reader.take(), output: null } })
        break
      case COMPLETE_OUTPUT:
        requests.push({ id, command: { op: 'complete', seq: reader.take(), run: reader.take(), output: values[next++] as Data } })
        break
      case ENQUEUE:
        lastName = values[next++] as string
        requests.push({ id, command: { op: 'enqueue', jobs: [{ name: lastName, data: values[next++] as Data }] } })
        break
      case ENQUEUE_SAME_NAME:
        requests.push({ id, command: { op: 'enqueue', jobs: [{ name: lastName, data: values[next++] as Data }] } })
        break
      case ENQUEUE_OPTIONS: {
        const name = values[next++] as string
        const data = values[next++] as Data
        lastJob = { name, data, ...(values[next++] as Partial<NewJob>) }
        requests.push({ id, command: { op: 'enqueue', jobs: [lastJob] } })
        break
      }
      case ENQUEUE_SAME_OPTIONS:
        requests.push({ id, command: { op: 'enqueue', jobs: [{ ...(lastJob as NewJob), data: values[next++] as Data }] } })
        break
      case STEP: {
        const [seq, run, number] = [reader.take(), reader.take(), reader.take()]
        const [asked, startedAt] = [reader.take(), reader.take()]
        const name = values[next++] as string
        const value = values[next++] as Data
        const step: Required<Omit<StepCommand, 'error'>> = { op: 'step', seq, run, number, asked, name, kind: 'step', startedAt, value }
        requests.push({ id, command: step })
        break
      }
      default:
        requests.push({ id, command: values[next++] as Request['command'] })
    }
  }
  return requests
}

/** True if the job has only a name and data. */
function isPlain(job: NewJob): boolean {
  for (const key in job) if (key !== 'name' && key !== 'data') return false
  return true
}

/** True if the jobs have the same name and options, as those of a definition do. */
function isSameButData(a: NewJob, b: NewJob): boolean {
  let keys = 0
  for (const key in a) {
    keys++
    if (key !== 'data' && a[key as keyof NewJob] !== b[key as keyof NewJob]) return false
  }
  for (const _key in b) keys--
  return keys === 0
}
