/** What the client returns of an answer is what the rows of its fields say: the types by `tsc`, and the values here. */
import type { JobView } from '@millrace/core'
import { type AnswerRecord, type DECODED, type FieldsOf, JOB, type Same } from '@millrace/core/answers'
import { describe, expect, test } from 'vitest'
import { sampleOf } from './testing/sample.ts'
import { type Job, jobOf } from './view.ts'

type Client<Of extends AnswerRecord> = FieldsOf<Of['rows'], 'client'>

/** Each is `true`, or what differs. */
const same: {
  readonly Job: Same<Client<typeof JOB> & Client<typeof DECODED>, Omit<Job, 'preview'>>
} = { Job: true }

test('every row is a field of the client’s interface, and every field has a row', () => {
  expect(Object.values(same).every((each) => each)).toBe(true)
})

/** The functions that make what a client returns, with the rows of it. */
const READERS: Readonly<Record<string, readonly [AnswerRecord, (wire: never) => unknown]>> = {
  Job: [JOB, (wire: JobView) => jobOf(wire)],
}

describe.each(Object.entries(READERS))('%s', (_, [{ rows }, read]) => {
  test.each([
    ['with a value in every field', false],
    ['without all that may be absent', true],
  ])('%s', (_says, empty) => {
    const { wire, client } = sampleOf(rows, empty)
    expect(read({ ...wire, ...FILLED } as never)).toEqual(client)
  })
})

/** Fields of an answer that are not those of a client. */
const FILLED = { progress: null }
