import { systemCalendar } from '@millrace/client/calendar'
import { DEFAULT_RETENTION } from '@millrace/core'
import { InThreadEngine } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { portConformance } from '@millrace/testkit/conformance'
import { seededRandom } from '@millrace/testkit/internal'

portConformance('in-thread', async () => {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const store = openStore({ file: ':memory:', durability: 'full', random, now: clock.read().wall, host: 'host', pid: 1 })
  const engine = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar },
  })
  return { port: engine.port({ owner: true }), close: async () => engine.close() }
})
