import { expect, test } from 'vitest'
import { SCOPES } from './access/scopes.ts'
import { OPERATIONS, type Operation } from './operations.ts'

const NAMES = Object.keys(OPERATIONS) as Operation[]

test('every scope allows something, and no two operations have one number', () => {
  expect([...new Set(NAMES.flatMap((name) => OPERATIONS[name].scopes))].toSorted()).toEqual(SCOPES.toSorted())
  expect(new Set(NAMES.map((name) => OPERATIONS[name].code)).size).toBe(NAMES.length)
})

test('no scope but admin changes what others have made', () => {
  expect(NAMES.filter((name) => OPERATIONS[name].scopes.every((scope) => scope === 'admin')).toSorted()).toEqual([
    'backup',
    'byKey',
    'cancel',
    'cancelMany',
    'cancelTree',
    'configure',
    'delete',
    'deleteExport',
    'deleteMany',
    'deleteQueue',
    'deleteSchedule',
    'drainQueue',
    'export',
    'pause',
    'pauseAll',
    'pauseSchedule',
    'redrive',
    'resumeSchedule',
    'retry',
    'retryMany',
    'retryTree',
    'runNow',
    'runNowMany',
    'stopWorker',
    'triggerSchedule',
    'update',
    'updateMany',
    'upsertSchedule',
  ])
})
