/**
 * Finds the browser for tests and pictures: the one that `CHROME_PATH` names, else the Chromium of the package @sparticuz/chromium, else one
 * that is installed. Nothing is downloaded.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { unpackChromium } from './unpack.ts'

export interface Chromium {
  readonly executablePath: string
  /** The variables that it needs beside those of this process. */
  readonly env: Readonly<Record<string, string>>
}

export interface Missing {
  /** A sentence on what was looked for and what to do. */
  readonly missing: string
}

/** The facts that decide which browser it is. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly arch: NodeJS.Architecture
  /** Undefined with another C library. */
  readonly glibc: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  isProgram(path: string): boolean
  unpack(): Promise<Chromium>
}

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'microsoft-edge-stable']
const MAC_APPS = ['Chromium', 'Google Chrome', 'Microsoft Edge'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)
const WINDOWS_PROGRAMS = [
  'Chromium\\Application\\chrome.exe',
  'Google\\Chrome\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
]
const WINDOWS_FOLDERS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']

export async function findChromium(machine: Machine = thisMachine()): Promise<Chromium | Missing> {
  const { CHROME_PATH } = machine.env
  if (CHROME_PATH) {
    if (machine.isProgram(CHROME_PATH)) return { executablePath: CHROME_PATH, env: {} }
    return { missing: `CHROME_PATH must be the path of a browser, got ${CHROME_PATH}` }
  }
  const unpacked = await unpackOn(machine)
  if ('executablePath' in unpacked) return unpacked
  const executablePath = placesOn(machine).find((path) => machine.isProgram(path))
  if (executablePath !== undefined) return { executablePath, env: {} }
  return {
    missing: `CHROME_PATH is unset, ${unpacked.missing}, and no Chromium, Chrome or Edge is installed: install one, or set CHROME_PATH`,
  }
}

/** Returns the browser of the package, or why there is none. */
async function unpackOn({ platform, arch, glibc, unpack }: Machine): Promise<Chromium | Missing> {
  if (platform !== 'linux' || arch !== 'x64') return { missing: `@sparticuz/chromium is for Linux on x64, not for ${platform} on ${arch}` }
  if (glibc === undefined) return { missing: '@sparticuz/chromium needs glibc' }
  try {
    return await unpack()
  } catch (error) {
    return { missing: `@sparticuz/chromium could not be unpacked (${(error as Error).message})` }
  }
}

/** Returns the paths where browsers are installed, the preferred ones first. */
function placesOn({ platform, env }: Machine): readonly string[] {
  if (platform === 'darwin') return MAC_APPS
  if (platform === 'win32') return WINDOWS_PROGRAMS.flatMap((program) => WINDOWS_FOLDERS.map((folder) => `${env[folder]}\\${program}`))
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)))
}

function thisMachine(): Machine {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const { platform, arch, env } = process
  return { platform, arch, glibc: header.glibcVersionRuntime, env, isProgram, unpack: () => unpackChromium() }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
