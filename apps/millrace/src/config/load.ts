/** What the daemon is told: defaults, then files, then the environment, then flags. */
import type { z } from 'zod'
import { type Environment, readEnvironment, readFlags } from './environment.ts'
import { ConfigError } from './errors.ts'
import { readFiles } from './files.ts'
import { KEYS, keyOf } from './keys.ts'
import { keyText, Layers, type Origin, type Path, type Written } from './layers.ts'
import { type Config, SCHEMA } from './schema/schema.ts'
import type { About } from './schema/setting.ts'

export interface Sources {
  /** By key, as `{ 'http.port': 8080 }`; values or texts. */
  readonly flags?: Readonly<Record<string, unknown>>
  readonly env?: Environment
  /** Where files are looked for. */
  readonly cwd: string
  /** Read in place of `millrace.config.*`; `MILLRACE_CONFIG` names one too. Null: no file is read. */
  readonly configFile?: string | null
}

export interface Setting {
  readonly key: string
  /** As it was written; '[redacted]' in place of what is secret of it. */
  readonly value: unknown
  readonly origin: Origin
}

export interface LoadedConfig {
  readonly config: Config
  /** Of every setting that has a value, by its key. */
  readonly origins: ReadonlyMap<string, Origin>
  /** The same with the values, for `millrace config show`: in the order of the reference. */
  readonly settings: readonly Setting[]
}

const DEFAULT: Origin = { layer: 'default', name: 'default' }

/**
 * Reads and checks everything; what is wrong is told with the place where it was written.
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

function shown(value: unknown, secret: About['secret']): unknown {
  if (secret === undefined) return value
  if (secret === true) return '[redacted]'
  const [name, ...rest] = secret as [string, ...string[]]
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value
  const inner = (value as Readonly<Record<string, unknown>>)[name]
  return { ...value, [name]: shown(inner, rest.length === 0 ? true : rest) }
}

function at(values: unknown, path: Path): unknown {
  return path.reduce((inner, part) => (inner as Readonly<Record<string, unknown>>)[part], values)
}

function problemOf(path: Path, message: string, written: ReadonlyMap<string, Written>): string {
  const origin = originOf(path, written)
  return `'${keyText(path)}'${origin === undefined ? '' : ` in ${origin.name}`}: ${message}`
}

/** Of a name that cannot be one, zod has the reason within. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
}

/** Of the setting or one in it, else of what it is part of. */
function originOf(path: Path, written: ReadonlyMap<string, Written>): Origin | undefined {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length)
    const found =
      written.get(keyText(part)) ?? [...written.values()].find((other) => part.every((name, index) => other.path[index] === name))
    if (found !== undefined) return found.origin
  }
  return undefined
}
