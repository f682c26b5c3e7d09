import { expect, test } from 'vitest'
import { failureOf } from './failure.ts'

const BROKEN = ['statement', 'unfit', 'large']

test.each([
  // Values cause these.
  ['22P05', 'untranslatable character', 'unfit'],
  ['22021', 'character not in repertoire', 'unfit'],
  ['22P02', 'invalid text representation', 'unfit'],
  ['22003', 'numeric value out of range', 'unfit'],
  ['22000', 'data exception', 'unfit'],
  ['54000', 'program limit exceeded: an index row', 'large'],
  ['54001', 'statement too complex: the nesting', 'large'],
  ['54023', 'too many arguments', 'large'],
  // Statements and tables do not agree.
  ['21000', 'cardinality violation', 'statement'],
  ['23505', 'unique violation', 'statement'],
  ['23514', 'check violation', 'statement'],
  ['0A000', 'feature not supported', 'statement'],
  ['42P01', 'undefined table', 'statement'],
  ['P0001', 'raise exception', 'statement'],
  ['MR002', 'another number of rows', 'statement'],
  // The server is in trouble, or somebody changes it.
  ['42501', 'insufficient privilege', 'io'],
  ['25006', 'read-only transaction', 'io'],
  ['25P02', 'transaction aborted', 'io'],
  ['25P04', 'transaction timeout', 'io'],
  ['28000', 'invalid authorization', 'io'],
  ['3D000', 'no such database', 'io'],
  ['53200', 'out of memory', 'io'],
  ['55000', 'object not in prerequisite state', 'io'],
  ['57P01', 'admin shutdown', 'io'],
  ['57P05', 'idle session timeout', 'io'],
  ['58030', 'io error', 'io'],
  ['F0000', 'configuration file error', 'io'],
  ['XX000', 'internal error', 'io'],
  ['XX001', 'data corrupted', 'io'],
  ['08006', 'connection failure', 'io'],
  ['40P01', 'deadlock', 'busy'],
  ['40001', 'serialization failure', 'busy'],
  ['55P03', 'lock not available', 'busy'],
  ['57014', 'query cancelled', 'busy'],
  ['53300', 'too many connections', 'busy'],
  ['53100', 'disk full', 'full'],
  ['MR001', 'a turn of another owner', 'owner'],
])('%s, %s: %s', (code, message, reason) => {
  const phase = BROKEN.includes(reason) ? 'broken' : 'before'
  expect(failureOf({ code, message, constraint: undefined })).toMatchObject({ phase, reason })
})
