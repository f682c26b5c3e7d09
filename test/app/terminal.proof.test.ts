// What is different on a terminal: colours, a view that is drawn over and over, questions.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { insist } from '../program.ts'
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
    expect(text).toContain('\u001b[1mQUEUE↑')
    expect(text).toMatch(/> default +0 +1 /)
  },
)

const TOKEN = 'token-of-this-test-0123456789'
const SIZE = { columns: 80, rows: 24 }

/** What the terminal was sent, and what it would be left in: each of the two sequences is sent once. */
function expectLeft(text: string): void {
  for (const sequence of ['\u001b[?1049h', '\u001b[?1049l', '\u001b[?25h']) expect(text.split(sequence)).toHaveLength(2)
}

/** `top` in a terminal, then the modes of that terminal, as stty prints them. */
function startTop(place: Place, ...args: readonly string[]) {
  const terminal = inTerminal(
    place,
    `stty cols ${SIZE.columns} rows ${SIZE.rows}; ${millraceLine(['top', ...args])}; echo "ended $?"; stty -a`,
  )
  let text = ''
  terminal.child.stdout.on('data', (piece: string) => {
    text += piece
  })
  return { ...terminal, type: (keys: string) => terminal.child.stdin.write(keys), text: () => text }
}

test('keys of top: a queue is paused and its failed jobs are retried, after a yes; what is shown says so', { timeout: LONG }, async ({
  skip,
}) => {
  if (!found('script')) skip('there is no script(1) here to make a terminal')
  const place = new Place()
  await place.serve()
  await place.ok('enqueue', 'bystander', '--queue', 'other')
  const { id } = await place.okJson('enqueue', 'mail', '--queue', 'bulk', '--ttl', '1ms')
  await place.run('enqueue', 'mail', '--queue', 'bulk', '--ttl', '1ms', '--wait')
  const top = startTop(place, '--interval', '100ms')
  await top.said(/> bulk/)
  top.type('p')
  await top.said(/Pause bulk\? \[y\/N\]/)
  top.type('y')
  await top.said(/paused bulk/)
  expect(await place.okJson('queues', 'show', 'bulk')).toMatchObject({ paused: true })
  expect(await place.okJson('queues', 'show', 'other')).toMatchObject({ paused: false })
  top.type('\r')
  await top.said(new RegExp(`${id}`))
  top.type('t')
  await top.said(/Retry all failed jobs of bulk\? \[y\/N\]/)
  top.type('y')
  await top.said(/2 jobs of bulk retried/)
  top.type('\u001bq')
  await top.said(/ended 0/)
  await top.ended
  expectLeft(top.text())
})

test('top --read-only: the keys that change something say so', { timeout: LONG }, async ({ skip }) => {
  if (!found('script')) skip('there is no script(1) here to make a terminal')
  const place = new Place()
  await place.serve()
  await place.ok('enqueue', 'mail')
  const top = startTop(place, '--read-only')
  await top.said(/> default/)
  top.type('py')
  await top.said(/--read-only: this key changes nothing/)
  top.type('q')
  await top.said(/ended 0/)
  expect(await place.okJson('queues', 'show', 'default')).toMatchObject({ paused: false })
})

test.for(['SIGTERM', 'a second signal', 'an engine that refuses', 'q while the engine is gone'] as const)(
  'however top ends, the terminal is as it was: %s',
  { timeout: LONG },
  async (how, { skip }) => {
    if (!found('script')) skip('there is no script(1) here to make a terminal')
    const place = new Place()
    const server = await place.serveProcess(...(how === 'an engine that refuses' ? [TOKEN] : []))
    Object.assign(place.env, { MILLRACE_TOKEN: TOKEN })
    await place.ok('enqueue', 'mail')
    const pid = place.path('pid')
    const target = how === 'an engine that refuses' || how.startsWith('q') ? ['--url', place.url as string] : []
    const line = `MILLRACE_TOKEN=${TOKEN} sh -c 'echo $$ > ${pid}; exec ${millraceLine(['top', '--interval', '100ms', ...target]).replaceAll("'", '"')}'`
    const terminal = inTerminal(place, `${line}; echo "ended $?"; stty -a`)
    let text = ''
    terminal.child.stdout.on('data', (piece: string) => {
      text += piece
    })
    await terminal.said(/0\.0\/s enqueued/)
    const top = Number(readFileSync(pid, 'utf8'))
    if (how === 'SIGTERM') process.kill(top, 'SIGTERM')
    if (how === 'a second signal') {
      process.kill(top, 'SIGTERM')
      await insist({ signal: (name) => spawnSync('kill', ['-s', name.slice(3), String(top)]), ended: terminal.said(/ended \d+/) }, 'SIGINT')
    }
    if (how.startsWith('q')) {
      await server.kill()
      await terminal.said(/no answer since/)
      terminal.child.stdin.write('q')
    }
    if (how === 'an engine that refuses') {
      await server.kill()
      await place.serve('another-token-0123456789')
    }
    const [end] = [await terminal.said(/ended \d+/)]
    await terminal.ended
    expect(end).toMatch(how === 'an engine that refuses' ? /ended 6/ : how.startsWith('q') ? /ended 0/ : /ended 130/)
    expectLeft(text)
    // Raw mode has neither of them. An error is printed where it can be read: after the other screen.
    expect(text.slice(text.indexOf('\u001b[?1049l'))).toMatch(/ icanon .* echo /s)
    if (how === 'an engine that refuses') expect(text.slice(text.indexOf('\u001b[?1049l'))).toContain('(AUTH_FAILED)')
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
