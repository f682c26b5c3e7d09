import { SCOPES } from '@millrace/core'
import { expect, test } from 'vitest'
import { OPERATIONS } from './schema/requests.ts'
import { SCOPES_OF } from './scopes.ts'

test('every operation has its scope', () => {
  expect(Object.keys(SCOPES_OF).toSorted()).toEqual(OPERATIONS.toSorted())
  expect([...new Set(Object.values(SCOPES_OF).flat())].toSorted()).toEqual(SCOPES.toSorted())
})

test('no scope but admin changes what others have made', () => {
  expect(OPERATIONS.filter((operation) => SCOPES_OF[operation].every((scope) => scope === 'admin')).toSorted()).toEqual([
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
    'pauseAll',
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
