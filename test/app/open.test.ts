// The dashboard of a daemon that runs, opened by a command.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freePort } from '../freePorts.ts'
import { startDaemonHere } from './daemon.ts'
import { Place } from './millrace.ts'

/** A program of that name in the folder, which writes down what it was given. */
function opener(place: Place): void {
  const path = place.path(process.platform === 'darwin' ? 'open' : 'xdg-open')
  writeFileSync(path, `#!/bin/sh\necho "$@" > ${place.path('given')}.part && mv ${place.path('given')}.part ${place.path('given')}\n`)
  chmodSync(path, 0o755)
  Object.assign(place.env, { PATH: `${place.folder}:${process.env['PATH']}`, DISPLAY: ':0', SSH_CONNECTION: '', SSH_TTY: '' })
}

test('opens the address in the browser of the system, and prints it', { timeout: 120_000 }, async () => {
  const place = new Place()
  opener(place)
  const port = await freePort()
  const daemon = startDaemonHere(place.folder, { flags: { 'http-port': port } })
  await daemon.serving
  const url = `http://127.0.0.1:${port}/`
  const flag = `--http-port=${port}`
  expect(await place.ok('open', flag, '--print')).toBe(`${url}\n`)
  expect(await place.okJson('open', flag, '--print')).toEqual({ url })
  const made = place.made('given')
  expect(await place.ok('open', flag)).toBe(`${url}\n`)
  await made
  // Of the three calls, only the last has opened it.
  expect(readFileSync(place.path('given'), 'utf8')).toBe(`${url}\n`)
  daemon.signal('SIGTERM')
  await daemon.ended
  expect(await place.run('open', flag)).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining(`nothing answers at ${url}`) })
  const off = await place.run('open', flag, '--http-dashboard-enabled=false')
  expect(off).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('the dashboard is off') })
})
