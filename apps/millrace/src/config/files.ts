/** Reads settings from files: one for everybody, and one for this machine only. Nothing is fetched, and no file includes another. */
import { isUtf8 } from 'node:buffer'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { withoutMark } from '@millrace/core'
import { loadConfig } from 'c12'
import { ConfigError } from './errors.ts'
import type { Layer, Origin } from './layers.ts'

export interface FileOptions {
  readonly cwd: string
  /** A path that must exist. If undefined, `millrace.config.*` in `cwd` is read, if it exists. */
  readonly configFile: string | undefined
  /** The environment that selects a section: `production` for `$production`. */
  readonly environment: string | undefined
}

/** Returns the file, its section, the local file and its section, each above the one before. @throws ConfigError */
export async function readFiles({ cwd, configFile, environment }: FileOptions): Promise<Layer[]> {
  const named = configFile === undefined ? undefined : resolve(cwd, configFile)
  if (named !== undefined && !existsSync(named)) throw new ConfigError([`there is no configuration file ${named}`])
  const main = await readFile(named ?? fileOf(cwd, 'millrace.config'))
  const local = await readFile(fileOf(cwd, 'millrace.config.local'))
  return [...layersOf(main, 'file', environment), ...layersOf(local, 'local file', environment)]
}

interface Found {
  readonly name: string
  readonly values: Readonly<Record<string, unknown>>
}

const FORMATS = ['ts', 'mts', 'js', 'mjs', 'json', 'toml']
/** Endings that people expect: a file that was passed over in silence would seem to be in force. */
const UNREAD = ['yaml', 'yml', 'json5', 'jsonc', 'cjs', 'cts']

function fileOf(cwd: string, stem: string): string | undefined {
  const unread = UNREAD.map((format) => `${stem}.${format}`).find((name) => existsSync(join(cwd, name)))
  if (unread !== undefined)
    throw new ConfigError([`${unread} is not read: a configuration file ends in .${FORMATS.join(', .')}. Rename or convert it`])
  const found = FORMATS.map((format) => join(cwd, `${stem}.${format}`)).filter((file) => existsSync(file))
  if (found.length > 1)
    throw new ConfigError([`there is more than one configuration file: keep one of ${found.map((file) => basename(file)).join(' and ')}`])
  return found[0]
}

async function readFile(file: string | undefined): Promise<Found | undefined> {
  if (file === undefined) return undefined
  const name = basename(file)
  let config: unknown
  try {
    using read = readable(file)
    ;({ config } = await loadConfig({
      name: 'millrace',
      cwd: dirname(file),
      configFile: read.file,
      // We merge the layers ourselves, and read nothing but this file.
      envName: false,
      extend: false,
      giget: false,
      rcFile: false,
      globalRc: false,
      packageJson: false,
      dotenv: false,
      merger: (...sources) => sources.find((source) => source !== undefined && source !== null) ?? {},
      jitiOptions: { fsCache: false },
    }))
  } catch (cause) {
    throw new ConfigError([`${name} cannot be read: ${(cause as Error).message}`], { cause })
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new ConfigError([`${name} must be an object of settings`])
  return { name, values: config as Readonly<Record<string, unknown>> }
}

/** @throws Error for a file in another encoding than UTF-8: the parsers would report strange characters, or take them */
function assertUtf8(file: string): void {
  const bytes = readFileSync(file)
  const [first, second] = bytes
  // Its mark, or its zeros: every second byte of a plain letter is 0 there, and no text in UTF-8 has this byte.
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || bytes.includes(0)
  if (isUtf16) throw new Error('it is UTF-16: save it as UTF-8 (in PowerShell: Set-Content -Encoding utf8)')
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8: save it as UTF-8')
}

/** Returns the file, or a copy if it is TOML with a byte order mark: the parser reads the file itself, and refuses the mark. */
function readable(file: string): { readonly file: string } & Disposable {
  assertUtf8(file)
  const text = extname(file) === '.toml' ? readFileSync(file, 'utf8') : ''
  if (withoutMark(text) === text) return { file, [Symbol.dispose]: () => {} }
  // Only this user can read the folder: the settings may have secrets.
  const folder = mkdtempSync(join(tmpdir(), 'millrace-config-'))
  const copy = join(folder, basename(file))
  writeFileSync(copy, withoutMark(text))
  return { file: copy, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

function layersOf(found: Found | undefined, layer: Origin['layer'], environment: string | undefined): Layer[] {
  if (found === undefined) return []
  const { name, values } = found
  const own = Object.fromEntries(Object.entries(values).filter(([key]) => !key.startsWith('$')))
  const section = environment === undefined ? undefined : values[`$${environment}`]
  return [
    { origin: { layer, name }, values: own },
    ...(section === undefined ? [] : [{ origin: { layer, name: `${name} ($${environment})` }, values: section }]),
  ]
}
