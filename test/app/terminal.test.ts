// What is different on a terminal: colours, a view that is drawn over and over, questions.
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'
import { found, inTerminal, millraceLine } from './pty.ts'

const LONG = 300_000

test.for([
  ['Ctrl-C', '\u0003', 130],
  ['q', 'q', 0],
] as const)(
  'top is drawn again and again until %s, and leaves the terminal as it was',
  { timeout: LONG },
  async ([, key, exit], { skip }) => {
    if (!found('script')) skip('there is no script(1) here to make a terminal')
    const place = new Place()
    await place.ok('enqueue', 'mail')
    const top = inTerminal(place, millraceLine(['top', '--interval', '100ms']))
    let text = ''
    top.child.stdout.on('data', (piece: string) => {
      text += piece
    })
    // The second frame tells rates.
    await top.said(/0\.0\/s enqueued/)
    top.child.stdin.write(key)
    const { code } = await top.ended
    expect(code).toBe(exit)
    expect(text).toContain('\u001b[?1049h')
    expect(text).toContain('\u001b[?1049l')
    expect(text).toContain('\u001b[1mQUEUE')
    expect(text).toMatch(/^default +0 +1 /m)
  },
)

test('what cannot be taken back is asked about', { timeout: LONG }, async ({ skip }) => {
  if (!found('script')) skip('there is no script(1) here to make a terminal')
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const no = inTerminal(place, millraceLine(['queues', 'purge', 'default']))
  no.child.stdin.write('n\n')
  expect((await no.ended).code).toBe(130)
  expect(no.lines.join()).toContain('1 job of default would be removed. [y/N]')
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 1 } })
  const yes = inTerminal(place, millraceLine(['queues', 'purge', 'default']))
  yes.child.stdin.write('y\n')
  expect((await yes.ended).code).toBe(0)
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 0 } })
})
