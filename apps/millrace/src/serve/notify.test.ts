// How often systemd is told that all is well.
import { expect, test } from 'vitest'
import { notifier } from './notify.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const watchdogMs = (env: Record<string, string>) => notifier({ NOTIFY_SOCKET: '/run/nobody', ...env }, logger).watchdogMs

test('WATCHDOG_USEC is microseconds', () => {
  expect(watchdogMs({ WATCHDOG_USEC: '400000' })).toBe(400)
  expect(watchdogMs({ WATCHDOG_USEC: '30000000' })).toBe(30_000)
})

test('a watchdog that is not wanted, or meant for another process, gets nothing', () => {
  expect(watchdogMs({})).toBeUndefined()
  expect(watchdogMs({ WATCHDOG_USEC: '0' })).toBeUndefined()
  expect(watchdogMs({ WATCHDOG_USEC: '400000', WATCHDOG_PID: `${process.pid + 1}` })).toBeUndefined()
  expect(watchdogMs({ WATCHDOG_USEC: '400000', WATCHDOG_PID: `${process.pid}` })).toBe(400)
  expect(notifier({ WATCHDOG_USEC: '400000' }, logger).watchdogMs).toBeUndefined()
})
