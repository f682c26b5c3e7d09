/** Reads settings from the strings of variables and flags, by one rule for both. */
import type { z } from 'zod'
import { ConfigError } from './errors.ts'
import { flagOf, keyOf, NAMED, SETTABLE, variableOf } from './keys.ts'
import { type Layer, meant, type Origin } from './layers.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const KEY_OF_VARIABLE = new Map(SETTABLE.map((key) => [variableOf(key), key]))

/** Variables that are not settings: they select the configuration, or are of other commands. */
const OTHERS = new Set([
  'MILLRACE_ENV',
  'MILLRACE_CONFIG',
  'MILLRACE_URL',
  'MILLRACE_STATE_DIR',
  'MILLRACE_IMPORT_URL',
  'MILLRACE_COMPLETION_TIMEOUT',
  'MILLRACE_WORKER_LOG',
])

/** The variables that Kubernetes sets in every container for a service named millrace. */
const KUBERNETES = /^MILLRACE(?:_\w+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?)$/

/**
 * Returns the settings of `MILLRACE_*`, each as its own layer. Empty variables are ignored. `PORT`, which platforms set, is below them.
 *
 * @throws ConfigError for an unknown variable
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
 * Returns settings given by key, as strings or as values, from a parsed command line. Each is its own layer.
 *
 * @throws ConfigError for an unknown key
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

/** Uses the string as it is if the setting accepts it; else reads it as JSON, or as a list with commas: of strings, or of JSON values. */
function readText(key: string, text: string, origin: Origin): unknown {
  if (NAMED.includes(key)) return jsonOf(key, text, origin)
  const { schema } = keyOf(key.split('.')) as { schema: z.ZodType }
  const json = parsed(text)
  const items = text.split(',').map((item) => item.trim())
  const candidates = [text, ...(json === undefined ? [] : [json.value]), items, items.map((item) => parsed(item)?.value ?? item)]
  // If none fits, the check of the whole configuration reports what is wrong with the string.
  return candidates.find((candidate) => schema.safeParse(candidate).success) ?? json?.value ?? text
}

function jsonOf(key: string, text: string, { name }: Origin): unknown {
  const json = parsed(text)
  if (json === undefined) throw new ConfigError([`'${key}' in ${name} must be an object of settings, as JSON`])
  return json.value
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
