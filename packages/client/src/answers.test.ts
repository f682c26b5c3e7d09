/** The client returns each answer as the rows of its fields say. `tsc` compares the types, and these tests compare the values. */
import * as rows from '@millrace/core/answers'
import { describe, expect, test } from 'vitest'
import { workersOf } from './attached.ts'
import type { JobExplanation } from './explain.ts'
import { type FlowJob, type FlowSummary, Flows } from './flows.ts'
import { type Failures, type QueuesHistory, readFailures, readHistory, type Throughput } from './observed.ts'
import { type QueueKeys, Queues, type QueueView } from './queues.ts'
import { type Schedule, type ScheduleSet, Schedules } from './schedules.ts'
import { sampleOf } from './testing/sample.ts'
import * as view from './view.ts'

type Client<Of extends rows.AnswerRecord> = rows.FieldsOf<Of['rows'], 'client'>
type Same<Of extends rows.AnswerRecord, Type> = rows.Same<Client<Of>, Type>

/** Each is `true`, or what differs. */
const same: {
  readonly Job: rows.Same<Client<typeof rows.JOB> & Client<typeof rows.DECODED>, Omit<view.Job, 'preview'>>
  readonly JobExplanation: Same<typeof rows.EXPLANATION, JobExplanation>
  readonly QueueView: Same<typeof rows.QUEUE, QueueView>
  readonly QueueKeys: Same<typeof rows.QUEUE_KEYS, QueueKeys>
  readonly WorkerView: Same<typeof rows.WORKER, Awaited<ReturnType<typeof workersOf>>[number]>
  readonly Schedule: Same<typeof rows.SCHEDULE, Pick<Schedule, keyof typeof rows.SCHEDULE.rows>>
  readonly ScheduleSet: Same<typeof rows.SCHEDULE_SET, Omit<ScheduleSet, 'id'>>
  readonly FlowJob: Same<typeof rows.FLOW_JOB, FlowJob>
  readonly FlowSummary: Same<typeof rows.FLOW_SUMMARY, FlowSummary>
  readonly Failures: Same<typeof rows.FAILURE, Failures>
  readonly Throughput: Same<typeof rows.HISTORY_POINT, Throughput>
  readonly QueuesHistory: Same<typeof rows.QUEUES_HISTORY, QueuesHistory>
  readonly EngineEvent: Same<typeof rows.JOB_EVENT, Omit<view.EngineEvent, 'message' | 'code' | 'cause'>>
  readonly QueueEvent: Same<typeof rows.QUEUE_EVENT, view.QueueEvent>
  readonly ScheduleEvent: Same<typeof rows.SCHEDULE_EVENT, view.ScheduleEvent>
  readonly WorkerEvent: Same<typeof rows.WORKER_EVENT, view.WorkerEvent>
  readonly EnginePauseEvent: Same<typeof rows.ENGINE_EVENT, view.EnginePauseEvent>
} = {
  Job: true,
  JobExplanation: true,
  QueueView: true,
  QueueKeys: true,
  WorkerView: true,
  Schedule: true,
  ScheduleSet: true,
  FlowJob: true,
  FlowSummary: true,
  Failures: true,
  Throughput: true,
  QueuesHistory: true,
  EngineEvent: true,
  QueueEvent: true,
  ScheduleEvent: true,
  WorkerEvent: true,
  EnginePauseEvent: true,
}

test('every row is a field of the client’s interface, and every field has a row', () => {
  expect(Object.values(same).every((each) => each)).toBe(true)
})

/** An engine with one answer. */
const answering = (reply: unknown) => ({ call: () => Promise.resolve(reply) }) as never
const eventOf = (wire: unknown) => view.engineEventOf(wire as never)

/** The functions that make what a client returns, with the rows of it. */
const READERS: Readonly<Record<string, readonly [rows.AnswerRecord, (wire: object) => unknown]>> = {
  Job: [rows.JOB, (wire) => view.jobOf({ ...wire, progress: null } as never)],
  QueueView: [rows.QUEUE, (wire) => new Queues(answering([wire]), undefined as never).get('q')],
  QueueKeys: [rows.QUEUE_KEYS, (wire) => new Queues(answering(wire), undefined as never).keys('q')],
  WorkerView: [rows.WORKER, async (wire) => (await workersOf(answering([wire])))[0]],
  Schedule: [
    rows.SCHEDULE,
    (wire) => new Schedules(answering({ ...wire, spec: {}, job: { data: null } }), undefined as never, undefined as never).get('s'),
  ],
  FlowSummary: [rows.FLOW_SUMMARY, async (wire) => (await new Flows(answering({ flows: [wire], next: null })).list()).flows[0]],
  Failures: [rows.FAILURE, async (wire) => (await readFailures(answering([wire])))[0]],
  Throughput: [rows.HISTORY_POINT, async (wire) => ((await readHistory(answering([wire]))) as readonly Throughput[])[0]],
  QueueEvent: [rows.QUEUE_EVENT, eventOf],
  ScheduleEvent: [rows.SCHEDULE_EVENT, eventOf],
  WorkerEvent: [rows.WORKER_EVENT, eventOf],
}

describe.each(Object.entries(READERS))('%s', (_, [{ rows: fields }, read]) => {
  test.each([
    ['with a value in every field', false],
    ['without all that may be absent', true],
  ])('%s', async (_says, empty) => {
    const { wire, client } = sampleOf(fields, empty)
    const shown = (await read(wire)) as Readonly<Record<string, unknown>>
    expect(Object.fromEntries(Object.keys(fields).map((name) => [name, shown[name]]))).toEqual(client)
  })
})
