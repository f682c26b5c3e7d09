/** Loads the configuration of the daemon: defaults, then files, then the environment, then flags. */
import type { z } from 'zod'
import { type Environment, readEnvironment, readFlags } from './environment.ts'
import { ConfigError } from './errors.ts'
import { readFiles } from './files.ts'
import { shown } from './hidden.ts'
import { KEYS, keyOf } from './keys.ts'
import { keyText, Layers, type Origin, type Path, type Written } from './layers.ts'
import { type Config, SCHEMA } from './schema/schema.ts'

export interface Sources {
  /** Settings by key, as `{ 'http.port': 8080 }`. Each is a value or a string. */
  readonly flags?: Readonly<Record<string, unknown>>
  readonly env?: Environment
  /** The folder in which configuration files are looked up. */
  readonly cwd: string
  /** The file to read instead of `millrace.config.*`; `MILLRACE_CONFIG` names one, too. If null, no file is read. */
  readonly configFile?: string | null
}

export interface Setting {
  readonly key: string
  /** The value as it was written, with '[redacted]' in place of its secret parts. */
  readonly value: unknown
  readonly origin: Origin
}

export interface LoadedConfig {
  readonly config: Config
  /** The origin of every setting that has a value, by its key. */
  readonly origins: ReadonlyMap<string, Origin>
  /** The same settings with their values, for `millrace config show`, in the order of the reference. */
  readonly settings: readonly Setting[]
}

const DEFAULT: Origin = { layer: 'default', name: 'default' }

/**
 * Reads and checks all settings. Each problem is reported with the place where the value was written.
 *
 * @throws ConfigError
 */
export async function loadConfig({ flags = {}, env = {}, cwd, configFile }: Sources): Promise<LoadedConfig> {
  const layers = new Layers()
  const path = configFile ?? (env['MILLRACE_CONFIG'] || undefined)
  const environment = env['MILLRACE_ENV'] || env['NODE_ENV'] || undefined
  const files = configFile === null ? [] : await readFiles({ cwd, configFile: path, environment })
  for (const layer of [...files, ...readEnvironment(env), ...readFlags(flags)]) layers.add(layer)
  const { success, data, error } = SCHEMA.safeParse(layers.values)
  if (!success) throw new ConfigError(error.issues.map((issue) => problemOf(issue.path.map(String), messageOf(issue), layers.written)))
  const settings = settingsOf(layers)
  return { config: data, origins: new Map(settings.map(({ key, origin }) => [key, origin])), settings }
}

function settingsOf({ values, written }: Layers): Setting[] {
  return KEYS.flatMap((known) => {
    const found = [...written].filter(([, { path }]) => keyOf(path) === known)
    if (found.length === 0) return known.preset === undefined ? [] : [{ key: known.key, value: known.preset, origin: DEFAULT }]
    return found.map(([key, { path, origin }]) => ({ key, value: shown(at(values, path), known.secret), origin }))
  }).filter(({ key }) => !key.includes('<'))
}

function at(values: unknown, path: Path): unknown {
  return path.reduce((inner, part) => (inner as Readonly<Record<string, unknown>>)[part], values)
}

function problemOf(path: Path, message: string, written: ReadonlyMap<string, Written>): string {
  const origin = originOf(path, written)
  return `'${keyText(path)}'${origin === undefined ? '' : ` in ${origin.name}`}: ${message}`
}

/** Returns the message of an issue. If a name is invalid, zod has the reason in an inner issue. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
}

/** Returns the origin of the setting or of one in it, else that of the part that contains it. */
function originOf(path: Path, written: ReadonlyMap<string, Written>): Origin | undefined {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length)
    const found =
      written.get(keyText(part)) ?? [...written.values()].find((other) => part.every((name, index) => other.path[index] === name))
    if (found !== undefined) return found.origin
  }
  return undefined
}
