/** Settings as texts: of variables, and of flags. One rule for all of them. */
import type { z } from 'zod'
import { ConfigError } from './errors.ts'
import { flagOf, keyOf, NAMED, SETTABLE, variableOf } from './keys.ts'
import { type Layer, meant, type Origin } from './layers.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const KEY_OF_VARIABLE = new Map(SETTABLE.map((key) => [variableOf(key), key]))

/** Variables that are no settings: which configuration to read, and how the command line finds a daemon. */
const OTHERS = new Set(['MILLRACE_ENV', 'MILLRACE_CONFIG', 'MILLRACE_URL', 'MILLRACE_STATE_DIR', 'MILLRACE_WORKER_LOG'])

/** What Kubernetes tells every container of a service called millrace. */
const KUBERNETES = /^MILLRACE(?:_\w+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?)$/

/**
 * The settings of `MILLRACE_*`, each a layer of its own; an empty variable is none. `PORT`, as platforms set it, is below them.
 *
 * @throws ConfigError for a variable that sets nothing
 */
export function readEnvironment(env: Environment): Layer[] {
  const layers: Layer[] = []
  const { PORT } = env
  if (PORT !== undefined && PORT !== '') layers.push(layerOf('http.port', PORT, { layer: 'environment', name: 'PORT' }))
  const problems: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('MILLRACE_') || OTHERS.has(name) || value === undefined || value === '') continue
    const key = KEY_OF_VARIABLE.get(name)
    if (key !== undefined) layers.push(layerOf(key, value, { layer: 'environment', name }))
    else if (!KUBERNETES.test(name))
      problems.push(`unknown variable '${name}' in the environment: ${meant(name, [...KEY_OF_VARIABLE.keys(), ...OTHERS])}`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return layers
}

/**
 * Settings by key, as texts or as values: what a command line has understood.
 *
 * @throws ConfigError for a key that sets nothing
 */
export function readFlags(flags: Readonly<Record<string, unknown>>): Layer[] {
  return Object.entries(flags).flatMap(([key, value]) => {
    if (value === undefined) return []
    if (!SETTABLE.includes(key)) throw new ConfigError([`unknown key '${key}' among the flags: ${meant(key, SETTABLE)}`])
    return [layerOf(key, value, { layer: 'flag', name: flagOf(key) })]
  })
}

function layerOf(key: string, value: unknown, origin: Origin): Layer {
  const parts = key.split('.')
  const read = typeof value === 'string' ? readText(key, value, origin) : value
  return { origin, values: parts.reduceRight((inner: unknown, part) => ({ [part]: inner }), read) }
}

/** A text is taken as it is where the setting can be one; else it is read as JSON, or as a list with commas: of texts, or each as JSON. */
function readText(key: string, text: string, origin: Origin): unknown {
  if (NAMED.includes(key)) return jsonOf(key, text, origin)
  const { schema } = keyOf(key.split('.')) as { schema: z.ZodType }
  const json = parsed(text)
  const items = text.split(',').map((item) => item.trim())
  const candidates = [text, ...(json === undefined ? [] : [json.value]), items, items.map((item) => parsed(item)?.value ?? item)]
  // Where none fits, the check of the whole says what is wrong with the text.
  return candidates.find((candidate) => schema.safeParse(candidate).success) ?? json?.value ?? text
}

function jsonOf(key: string, text: string, { name }: Origin): unknown {
  const json = parsed(text)
  if (json === undefined) throw new ConfigError([`'${key}' in ${name} is an object of settings, as JSON`])
  return json.value
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
