import { expect, test } from 'vitest'
import { OPERATIONS } from './schema/requests.ts'
import { SCOPE_OF, SCOPES } from './scopes.ts'

test('every operation has its scope', () => {
  expect(Object.keys(SCOPE_OF).toSorted()).toEqual(OPERATIONS.toSorted())
  expect([...new Set(Object.values(SCOPE_OF))].toSorted()).toEqual(SCOPES.toSorted())
})

test('no scope but admin changes what others have made', () => {
  expect(OPERATIONS.filter((operation) => SCOPE_OF[operation] === 'admin').toSorted()).toEqual([
    'backup',
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
    'pauseSchedule',
    'redrive',
    'resumeSchedule',
    'retry',
    'retryMany',
    'retryTree',
    'runNow',
    'stopWorker',
    'triggerSchedule',
    'update',
    'upsertSchedule',
  ])
})
