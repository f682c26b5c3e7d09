// The Python client as a package: its types, and a wheel that is built without a network.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { attached, startDaemon } from '../app/daemon.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { CLIENT, HAS_PYTHON, runPython } from './python.ts'

const MYPY = ['mypy', 'python3 -m mypy'].find((command) => runPython('sh', ['-c', `${command} --version`]).status === 0)
/** The first Python whose setuptools can build a wheel: those before 70.1 need the package `wheel`. */
const BUILDER = ['python3', '/usr/bin/python3'].find(
  (python) =>
    runPython(python, ['-c', 'import setuptools\ntry:\n import wheel\nexcept ImportError:\n import setuptools.command.bdist_wheel'])
      .status === 0,
)

beforeEach(({ skip }) => {
  if (!HAS_PYTHON) skip('no python3 of 3.8 or newer on this machine')
})

test('the package passes mypy --strict, and so does a program that uses all of it', ({ skip }) => {
  if (MYPY === undefined) skip('no mypy on this machine')
  const program = join(import.meta.dirname, 'programs', 'typed.py')
  const command = `${MYPY} --strict --cache-dir=/dev/null millrace ${program}`
  const { stdout, status } = runPython('sh', ['-c', command], { path: CLIENT })
  expect(stdout).toMatch(/^Success: no issues found in \d+ source files/)
  expect(status).toBe(0)
}, 120_000)

test('a wheel is built offline, and has the types with it', ({ skip }) => {
  if (BUILDER === undefined) skip('no Python whose setuptools can build a wheel on this machine')
  const folder = temporaryFolder()
  const source = join(folder, 'source')
  cpSync(CLIENT, source, { recursive: true, filter: (path) => !/__pycache__|\.egg-info|build$/.test(path) })
  const build = "from setuptools.build_meta import build_wheel; build_wheel('../dist')"
  expect(runPython(BUILDER as string, ['-c', build], { cwd: source })).toMatchObject({ status: 0 })
  const [wheel, ...others] = readdirSync(join(folder, 'dist'))
  expect(others).toEqual([])
  const version = runPython('python3', ['-c', 'import millrace; print(millrace.__version__)']).stdout.trim()
  expect(wheel).toBe(`millrace-${version}-py3-none-any.whl`)
  const path = join(folder, 'dist', wheel as string)
  const files = runPython('python3', ['-c', `import zipfile; print(*zipfile.ZipFile('${path}').namelist())`]).stdout.split(' ')
  const sources = readdirSync(join(CLIENT, 'millrace')).filter((name) => /\.(py|typed)$/.test(name))
  expect(files).toEqual(expect.arrayContaining(sources.map((name) => `millrace/${name}`)))
  const use = 'import millrace, sys; print(millrace.__file__, millrace.new_job("a", delay=1))'
  expect(runPython('python3', ['-c', use], { cwd: folder, path }).stdout).toBe(
    `${path}/millrace/__init__.py ['a', None, None, None, 1000]\n`,
  )
})

test('the examples of its README run in the folder of a daemon', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const engine = await attached(daemon, folder)
  const text = readFileSync(join(CLIENT, 'README.md'), 'utf8')
  const blocks = [...text.matchAll(/```python\n(.*?)```/gs)].map(([, block = '']) => block)
  const [producer = '', worker = '', both = '', ...others] = blocks.filter((block) => block.includes('import millrace'))
  expect(others).toEqual([])
  const start = (name: string, program: string) => {
    const file = join(folder, name)
    writeFileSync(file, program)
    const within = [
      'env',
      '-C',
      folder,
      `PYTHONPATH=${CLIENT}`,
      'PYTHONDONTWRITEBYTECODE=1',
      'sh',
      '-c',
      'shift; exec python3 -u "$@"',
      'sh',
    ]
    return startProgram(pathToFileURL(file), [], within)
  }
  const working = start('worker.py', worker)
  expect(runPython('python3', ['-c', producer], { cwd: folder, path: CLIENT }).stdout).toBe("{'pages': 10}\n")
  working.child.kill('SIGTERM')
  expect(await working.ended).toMatchObject({ code: 0, stderr: '' })
  const asynchronous = start('both.py', both)
  const id = await asynchronous.said(/^[0-9a-f-]{36}$/)
  expect(await engine.handle(id).result()).toEqual({ from: 'a.png' })
  asynchronous.child.kill('SIGTERM')
  expect(await asynchronous.ended).toMatchObject({ code: 0, stderr: '' })
  const fragments = join(import.meta.dirname, 'programs', 'readme.py')
  const { stdout, stderr } = runPython('python3', [fragments, join(CLIENT, 'README.md')], { cwd: folder, path: CLIENT })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout.trim().split('\n').at(-1) as string)).toEqual({
    crawled: ['s/a', 's/b'],
    sent: { sent: ['seat', 'A7'] },
    charged: true,
    saved: [['completed', 'resize', true]],
    paused: true,
    schedules: ['nightly'],
    flows: [['fetch', 'running']],
    why: 'has failed after attempt 1',
    tags: [['customer:8'], ['customer:9']],
    settings: {
      rate_limit: { limit: 100, period: 60, burst: 100 },
      defaults: { keep: 3600 },
      per_key_limit: 2,
      key_tiers: { gold: { per_key_limit: 10 } },
    },
    retried: 'waiting',
  })
}, 120_000)
