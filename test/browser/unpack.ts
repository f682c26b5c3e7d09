/** Unpacks the browser in the package @sparticuz/chromium, once: 205 MB, in 2 s. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Chromium } from './chromium.ts'

const INFLATE = fileURLToPath(new URL('./inflate.ts', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/millrace-chromium', import.meta.url))

/** The last has the libraries that the browser needs. By itself, the package unpacks it on Amazon Linux alone. */
const ARCHIVES = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']

/** The machine's fonts, and those of the package in any case. The package's own file names folders of Amazon Linux: pages would show no text. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`

/** Returns the folder of the package. It throws if the package is not installed. */
export function packageFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..')
}

/** Returns the browser of the package, which it unpacks unless the cache has it. Any number of processes may call it at a time. */
export async function unpackChromium(from: string = packageFolder(), cache: string = CACHE): Promise<Chromium> {
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { version: string }
  const folder = join(cache, version)
  if (!existsSync(folder)) await unpack(join(from, 'bin'), folder)
  for (const name of readdirSync(cache)) if (!name.startsWith(version)) rmSync(join(cache, name), { recursive: true, force: true })
  const env = { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  return { executablePath: join(folder, 'chromium'), env }
}

/** Unpacks aside, and renames: if the process is killed, the next one does not take half a browser for a whole one, as the package would. */
async function unpack(bin: string, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true })
  const aside = mkdtempSync(`${folder}.`)
  try {
    const archives = ARCHIVES.map((name) => join(bin, name))
    await promisify(execFile)(process.execPath, [INFLATE, ...archives], { env: { ...process.env, TMPDIR: aside } })
    writeFileSync(join(aside, 'fonts.conf'), FONTS)
    renameSync(aside, folder)
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}
