// Every sentence with a number agrees with one, too. Each function of the tables of sentences is called.
import { expect, test } from 'vitest'
import { JOB_TEXT } from './job/text.ts'
import { JSON_TEXT } from './parts/json/text.ts'
import { ERRORS_TEXT } from './screens/errors/text.ts'
import { text as flow } from './screens/flow/text.ts'
import { JOB_PAGE_TEXT } from './screens/job/text.ts'
import { JOBS_TEXT } from './screens/jobs/text.ts'
import { text as queues } from './screens/queues/text.ts'
import { text as schedules } from './screens/schedules/text.ts'
import { SETTINGS_TEXT } from './screens/settings/text.ts'
import { WEBHOOKS_TEXT } from './screens/webhooks/text.ts'
import { text as workers } from './screens/workers/text.ts'
import { TEXT } from './text.ts'

const TABLES = {
  ERRORS_TEXT,
  flow,
  JOB_PAGE_TEXT,
  JOBS_TEXT,
  queues,
  schedules,
  SETTINGS_TEXT,
  WEBHOOKS_TEXT,
  workers,
  JOB_TEXT,
  JSON_TEXT,
  TEXT,
}

/** Nouns that are counted. */
const NOUNS = 'job|slot|key|command|run|worker|queue|event|layer|attempt|character|time|line|session|schedule'

function sentencesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(sentencesOf)
  if (typeof value !== 'function') return []
  try {
    return sentencesOf(value(...Array(value.length).fill(1)))
  } catch {
    // It takes lists.
    return []
  }
}

test.each(Object.entries(TABLES))('the numbers of %s', (_name, table) => {
  const sentences = sentencesOf(table)
  expect(sentences.length).toBeGreaterThan(5)
  expect(sentences.filter((each) => new RegExp(`\\b1 (?:${NOUNS})s\\b(?! again)`).test(each))).toEqual([])
  expect(
    sentences.filter((each) => new RegExp(`\\b1 (?:failed )?(?:${NOUNS})\\b[^.,;:(]* (?:are|were|wait|stay|run)\\b`).test(each)),
  ).toEqual([])
})
