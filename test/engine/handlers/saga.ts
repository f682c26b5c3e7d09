/** A handler module with durable calls. Its calls of steps are counted where they run. */
import type { Context } from '@millrace/engine'

const calls: string[] = []

export async function handler({ step, sleep, changed, log, signal }: Context<string>): Promise<unknown> {
  const note = (name: string) => step(name, ({ attempt }) => void calls.push(`${name} ${attempt}`))
  signal.addEventListener('abort', () => void calls.push((signal.reason as Error).name))
  log('info', 'begins')
  await Promise.all([note('seat'), note('car')])
  const isNew = await changed('fraud')
  await sleep('nap', '1s')
  await step('pay', ({ attempt, key }) => {
    calls.push(`pay ${attempt} ${key.endsWith(':pay')}`)
    if (attempt === 1) throw new RangeError('no money yet')
  })
  const failed = await step('ship', () => 1n).catch((error: Error) => error.name)
  return { isNew, failed, calls }
}
