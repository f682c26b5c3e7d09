/**
 * Opens an engine in memory on this thread, under the system's clock, for tests whose subject is not the writer's thread: to start one takes
 * 80 ms of processor time.
 */
import { Engine, loggerOrDefault } from '@millrace/client'
import { type OpenOptions, validateOpenOptions } from '@millrace/core'
import { InThreadEngine, systemCalendar, systemClock, systemRandom } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'

const MEMORY = ':memory:'
const HOST = { host: 'test', pid: process.pid }

export function openInThread(options: Omit<OpenOptions, 'file'> = {}): Engine {
  const opened = validateOpenOptions({ ...options, file: MEMORY })
  const { recovery, retention, defaults, maxQueues, maxDataBytes, codec, redact, logger } = opened
  const store = openStore({ file: MEMORY, durability: 'normal', random: systemRandom, now: systemClock.read().wall, ...HOST })
  const settings = { recovery, retention, defaults, maxQueues, maxDataBytes, calendar: systemCalendar }
  const told = loggerOrDefault(logger)
  const inThread = new InThreadEngine({ store, clock: systemClock, random: systemRandom, settings, warn: told?.warn.bind(told) })
  const setup = {
    maxDataBytes,
    codec,
    redact,
    logger: told,
    clock: systemClock,
    quietClock: systemClock,
    ...HOST,
    local: true,
  }
  return new Engine(inThread.port({ owner: true }), setup)
}
