import { expect, test } from 'vitest'
import { type Chromium, findChromium, type Machine } from './chromium.ts'

const UNPACKED: Chromium = { executablePath: '/cache/chromium', env: { LD_LIBRARY_PATH: '/cache/lib' } }

/** A Linux machine with these programs. */
function machine(programs: readonly string[], facts: Partial<Machine> = {}): Machine {
  return {
    ...{ platform: 'linux', arch: 'x64', glibc: '2.36', env: { PATH: '/usr/local/bin::/usr/bin' } },
    isProgram: (path) => programs.includes(path),
    unpack: async () => UNPACKED,
    ...facts,
  }
}

const found = (executablePath: string) => ({ executablePath, env: {} })

test('CHROME_PATH goes before all else, and is never passed over', async () => {
  const env = { CHROME_PATH: '/opt/chrome', PATH: '/usr/bin' }
  expect(await findChromium(machine(['/opt/chrome', '/usr/bin/chromium'], { env }))).toEqual(found('/opt/chrome'))
  expect(await findChromium(machine(['/usr/bin/chromium'], { env }))).toEqual({
    missing: 'CHROME_PATH must be the path of a browser, got /opt/chrome',
  })
})

test('the package goes before what is installed', async () => {
  expect(await findChromium(machine(['/usr/bin/chromium']))).toEqual(UNPACKED)
  expect(await findChromium(machine(['/usr/bin/chromium'], { env: { CHROME_PATH: '' } }))).toEqual(UNPACKED)
})

test.for<[string, Partial<Machine>, string]>([
  ['another processor', { arch: 'arm64' }, '@sparticuz/chromium is for Linux on x64, not for linux on arm64'],
  ['another C library', { glibc: undefined }, '@sparticuz/chromium needs glibc'],
  [
    'an error',
    { unpack: () => Promise.reject(new Error('the disk is full')) },
    '@sparticuz/chromium could not be unpacked (the disk is full)',
  ],
])('with %s, an installed browser is taken, Chromium first', async ([, facts, reason]) => {
  const installed = ['/usr/bin/google-chrome', '/usr/local/bin/microsoft-edge']
  expect(await findChromium(machine(installed, facts))).toEqual(found('/usr/bin/google-chrome'))
  expect(await findChromium(machine([...installed, '/usr/bin/chromium'], facts))).toEqual(found('/usr/bin/chromium'))
  expect(await findChromium(machine([], facts))).toEqual({
    missing: `CHROME_PATH is unset, ${reason}, and no Chromium, Chrome or Edge is installed: install one, or set CHROME_PATH`,
  })
})

test('macOS and Windows have them elsewhere', async () => {
  const edge = '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'
  expect(await findChromium(machine([edge], { platform: 'darwin' }))).toEqual(found(edge))
  const env = { PROGRAMFILES: 'C:\\Program Files', LOCALAPPDATA: 'C:\\Local' }
  const chrome = 'C:\\Local\\Google\\Chrome\\Application\\chrome.exe'
  const msedge = 'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe'
  expect(await findChromium(machine([msedge, chrome], { platform: 'win32', env }))).toEqual(found(chrome))
})
