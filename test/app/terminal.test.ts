// What is different on a terminal: colours, a view that is drawn over and over, questions; and scripts for shells.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { Place } from './millrace.ts'

const LONG = 300_000
const MAIN = fileURLToPath(new URL('../../apps/millrace/dist/main.js', import.meta.url))
const found = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** In a terminal of its own, as `script` makes one. */
function inTerminal(place: Place, ...args: readonly string[]) {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  writeFileSync(
    place.path('run.mjs'),
    `
import { spawn } from 'node:child_process'
// What says how a terminal is to look, and is not of this one.
const { CI, NO_COLOR, FORCE_COLOR, ...env } = process.env
const child = spawn('script', ['-qefc', process.argv[2], '/dev/null'], { stdio: 'inherit', env: { ...env, TERM: 'xterm', MILLRACE_FILE: process.argv[3] } })
process.on('SIGTERM', () => {})
child.on('exit', (code) => process.exit(code ?? 1))
`,
  )
  return startProgram(new URL(`file://${place.path('run.mjs')}`), [command, place.file])
}

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
    const top = inTerminal(place, 'top', '--interval', '100ms')
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
  const no = inTerminal(place, 'queues', 'purge', 'default')
  no.child.stdin.write('n\n')
  expect((await no.ended).code).toBe(130)
  expect(no.lines.join()).toContain('1 job of default would be removed. [y/N]')
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 1 } })
  const yes = inTerminal(place, 'queues', 'purge', 'default')
  yes.child.stdin.write('y\n')
  expect((await yes.ended).code).toBe(0)
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 0 } })
})

test.each(['bash', 'zsh', 'fish'])('completion %s: a script that the shell can read', { timeout: LONG }, async (shell) => {
  const place = new Place()
  const script = await place.ok('completion', shell)
  for (const word of ['schedules', '--max-attempts', 'drain'])
    expect(script).toContain(word.replace(/^--/, shell === 'fish' ? '-l ' : '--'))
  expect(await place.okJson('completion', shell)).toEqual({ shell, script })
  // Where the shell is not here, its script is only looked at.
  if (found(shell)) expect(spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('completion in bash: commands, their flags, values of flags', { timeout: LONG }, async ({ skip }) => {
  if (!found('bash')) skip('there is no bash here')
  const script = await new Place().ok('completion', 'bash')
  const complete = (...words: string[]): string[] => {
    const line = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', line], { encoding: 'utf8', cwd: '/' }).stdout.trim().split('\n')
  }
  expect(complete('millrace', 'sche')).toEqual(['schedules'])
  expect(complete('millrace', 'jobs', 're')).toEqual(['retry'])
  expect(complete('millrace', '--url', 'jobs', 'queues', 'pa')).toEqual(['pause', 'pause-all'])
  expect(complete('millrace', 'jobs', '--json', 'list', '--se')).toEqual(['--search'])
  expect(complete('millrace', 'jobs', 'list', '--st')).toEqual(['--state'])
})
