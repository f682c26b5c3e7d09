// Scripts that complete commands, flags and names, in the shells themselves.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Program } from '../program.ts'
import { Place } from './millrace.ts'
import { found, inTerminal } from './pty.ts'

const LONG = 300_000
const MAIN = fileURLToPath(new URL('../../apps/millrace/dist/main.js', import.meta.url))
const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]
/** A name that does something if a shell reads it as a command. */
const HOSTILE = `x$(touch pwned)\`touch pwned\`;touch pwned #'"y z`

/** Makes `millrace` a program of the place. */
function install(place: Place): void {
  mkdirSync(place.path('bin'), { recursive: true })
  writeFileSync(place.path('bin/millrace'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(place.path('bin/millrace'), 0o755)
}

/** Variables of a shell that finds that program, and for it the file of the place. */
function environmentOf(place: Place): Record<string, string> {
  const own = {
    MILLRACE_FILE: place.file,
    MILLRACE_STATE_DIR: place.path('state'),
    HOME: place.folder,
    TERM: 'xterm',
    INPUTRC: '/dev/null',
    MILLRACE_COMPLETION_TIMEOUT: '20s',
  }
  return { ...own, PATH: `${place.path('bin')}:${process.env['PATH']}` }
}

/** The words that a shell offers at the end of a line, by the script in the file `script`. */
const OFFERS: Readonly<Record<'bash' | 'fish', (line: string) => string>> = {
  bash: (line) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    return `. ./script\nCOMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`
  },
  fish: (line) => `. ./script\ncomplete -C '${line}'`,
}

async function completer(place: Place, shell: 'bash' | 'fish'): Promise<(line: string) => readonly string[]> {
  writeFileSync(place.path('script'), await place.ok('completion', shell))
  install(place)
  const env = environmentOf(place)
  return (line) => {
    const { stdout, stderr, status } = spawnSync(shell, ['-c', OFFERS[shell](line)], {
      encoding: 'utf8',
      cwd: place.folder,
      env: { ...process.env, ...env },
    })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    return stdout
      .split('\n')
      .flatMap((each) => (each === '' ? [] : [each.split('\t')[0] as string]))
      .toSorted()
  }
}

/** An engine that has the file open, with some names. */
async function engineWithNames(): Promise<Place> {
  const place = new Place()
  // Shells are waited for without a turn of this process.
  await place.serveProcess()
  for (const [name, queue] of [
    ['mail', 'bulk'],
    ['mailing', 'bulletin'],
    ['mail', 'eu:bulk'],
  ] as const)
    await place.ok('enqueue', name, '--queue', queue)
  await place.ok('schedules', 'set', 'nightly', 'report', '--every', '1d')
  return place
}

/** How a shell starts with the script and a prompt, and without files of the user. */
const STARTS: Readonly<Record<Shell, string>> = {
  bash: 'exec bash --rcfile ./start -i',
  zsh: 'ZDOTDIR=. exec zsh -i',
  fish: "exec fish -N -C 'function fish_prompt; echo READY\\>; echo ; end; . ./script'",
}

/** A shell in a terminal, after its first prompt. */
async function typing(place: Place, shell: Shell): Promise<Program> {
  const env = environmentOf(place)
  writeFileSync(place.path('start'), `PS1='READY>\n'\n. ./script\n`)
  writeFileSync(place.path('.zshrc'), `PS1='READY>\n'\nautoload -U compinit; compinit -u -d ./dump\n. ./script\n`)
  const terminal = inTerminal(place, `cd '${place.folder}'; ${STARTS[shell]}`, env)
  await terminal.said(/READY>/)
  return terminal
}

test.each(SHELLS)('completion %s: a script that the shell can read', { timeout: LONG }, async (shell) => {
  const place = new Place()
  const script = await place.ok('completion', shell)
  for (const word of ['schedules', '--max-attempts', 'drain'])
    expect(script).toContain(word.replace(/^--/, shell === 'fish' ? '-l ' : '--'))
  expect(await place.okJson('completion', shell)).toEqual({ shell, script })
  // Where the shell is not here, its script is only looked at.
  writeFileSync(place.path('script'), script)
  if (found(shell)) expect(spawnSync(shell, ['-n', place.path('script')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test.for(['bash', 'fish'] as const)(
  'completion in %s: commands, their flags, values of flags',
  { timeout: LONG },
  async (shell, { skip }) => {
    if (!found(shell)) skip(`there is no ${shell} here`)
    const complete = await completer(new Place(), shell)
    expect(complete('millrace sche')).toEqual(['schedules'])
    expect(complete('millrace jobs re')).toEqual(['retry'])
    expect(complete('millrace --url jobs queues pa')).toEqual(['pause', 'pause-all'])
    expect(complete('millrace jobs --json list --se')).toEqual(['--search'])
    // A group alone takes the flags of its usual command.
    for (const words of ['jobs', 'jobs list']) expect(complete(`millrace ${words} --st`)).toEqual(['--state'])
    expect(complete('millrace __')).toEqual([])
    expect(complete('millrace jobs list --state fa')).toEqual(['failed'])
    expect(complete('millrace queues set mail --on-full ')).toEqual(['drop-oldest', 'reject'])
    expect(complete('millrace completion ')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
    expect(complete('millrace config set max-le')).toEqual(['max-length'])
    expect(complete('millrace serve --wait-for')).toEqual(['--wait-for-owner'])
  },
)

test.for(['bash', 'fish'] as const)('completion in %s: names that the engine knows', { timeout: LONG }, async (shell, { skip }) => {
  if (!found(shell)) skip(`there is no ${shell} here`)
  const place = await engineWithNames()
  const complete = await completer(place, shell)
  expect(complete('millrace queues show bu')).toEqual(['bulk', 'bulletin'])
  expect(complete('millrace queues show bulk ')).not.toContain('bulletin')
  expect(complete('millrace enqueue mai')).toEqual(['mail', 'mailing'])
  expect(complete('millrace jobs list --queue bull')).toEqual(['bulletin'])
  expect(complete('millrace schedules pause n')).toEqual(['nightly'])
  expect(complete(`millrace --url ${place.url} jobs --name mailin`)).toEqual(['mailing'])
  expect(complete('millrace --file nowhere.db jobs --name mailin')).toEqual([])
  await place.ok('token', 'create', 'ci-runner', '--file', place.file)
  expect(complete(`millrace --file ${place.file} token revoke ci`)).toEqual(['ci-runner'])
})

test('a file that nobody has open is left alone, and nobody hears of an error', { timeout: LONG }, async () => {
  const place = new Place()
  const complete = (...words: readonly string[]) => place.run('__complete', '--', ...words)
  const nothing = { code: 0, stdout: '', stderr: '' }
  expect(await complete('queues', 'show', '')).toMatchObject(nothing)
  expect(readdirSync(place.folder)).toEqual([])
  await place.ok('enqueue', 'mail')
  const before = readdirSync(place.folder)
  expect(await complete('queues', 'show', 'd')).toMatchObject(nothing)
  expect(await complete('--json', '--token', 'mr_secret', 'queues', 'show', '')).toMatchObject(nothing)
  expect(await complete('--url', 'nowhere', 'queues', 'show', '')).toMatchObject(nothing)
  expect(await complete()).toMatchObject(nothing)
  expect(readdirSync(place.folder)).toEqual(before)
})

test.for(SHELLS)(
  'typed in %s: a name is completed; one that is a command of the shell is quoted',
  { timeout: LONG },
  async (shell, { skip }) => {
    if (!found(shell)) skip(`there is no ${shell} here`)
    if (!found('script')) skip('there is no script(1) here to make a terminal')
    const place = await engineWithNames()
    install(place)
    writeFileSync(place.path('script'), await place.ok('completion', shell))
    /** Types the beginning of a name, and leaves the shell when the answer is there. */
    const type = async (beginning: string, answer: RegExp) => {
      const terminal = await typing(place, shell)
      terminal.child.stdin.write(`millrace queues show ${beginning}\t\n`)
      await terminal.said(answer)
      terminal.child.stdin.write('exit\n')
      expect(await terminal.ended).toMatchObject({ code: 0 })
    }
    for (const [beginning, queue] of [
      ['bull', 'bulletin'],
      ['eu:', 'eu:bulk'],
    ] as const)
      await type(beginning, new RegExp(`queue {4,}[^]* ${queue}\\r?$`))
    // No engine has such a queue, but another program may pretend to.
    const hostile = `#!/bin/sh\nif [ "$1" = __complete ]; then cat <<'end'\n${HOSTILE}\nend\nexit; fi\nprintf %s "$3" > given\necho do''ne\n`
    writeFileSync(place.path('bin/millrace'), hostile)
    await type('x', /done/)
    expect(readFileSync(place.path('given'), 'utf8')).toBe(HOSTILE)
    expect(existsSync(place.path('pwned'))).toBe(false)
  },
)
