/** Every option of the engine and of its sockets can be set for the daemon, or is listed here with the reason why not. */
import { type Engine, openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { expect, test } from 'vitest'
import { KEYS } from './keys.ts'

const OF_THE_PROGRAM: Readonly<Record<string, string>> = {
  codec: 'a function: the daemon passes data on as it is',
  redact: 'a function: log.redact names the fields',
  logger: 'the section log',
}
const OF_THE_SOCKETS: Readonly<Record<string, string>> = {
  authenticate: 'tokens of the control database',
  audit: 'the control database',
  assertAuditable: 'the control database',
  logger: 'the section log',
  token: 'the setting token',
  tls: 'the section tls',
}

/** The names that a call accepts, as it lists them for one that it does not know. */
async function optionsOf(call: (options: never) => unknown): Promise<readonly string[]> {
  try {
    await call({ qqqqqqqqqqqqqqqq: 1 } as never)
  } catch (error) {
    return (/it accepts (.*)$/.exec((error as Error).message)?.[1] ?? '').split(', ')
  }
  return []
}

const keys = KEYS.map(({ key }) => key)
const isSettable = (path: string) => keys.some((key) => key === path || key.startsWith(`${path}.`))

test('openEngine', async () => {
  const options = await optionsOf(openEngine)
  expect(options).toContain('file')
  expect(options.filter((option) => !isSettable(option))).toEqual(Object.keys(OF_THE_PROGRAM))
})

test('listen', async () => {
  const options = await optionsOf((given) => listen({} as Engine, 'tcp://127.0.0.1:0', given))
  expect(options).toContain('maxUnreadBytes')
  expect(options.filter((option) => !isSettable(`sockets.${option}`)).toSorted()).toEqual(Object.keys(OF_THE_SOCKETS).toSorted())
})
