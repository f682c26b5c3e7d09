/** The file or the schema that the configuration of the daemon names, if there is one in this folder: commands find what it serves. */
import { readdirSync } from 'node:fs'
import type { TargetOptions } from './target.ts'

const SELECTING = ['MILLRACE_URL', 'MILLRACE_POSTGRES', 'MILLRACE_FILE'] as const

/**
 * Returns nothing if a flag or a variable selects the engine.
 *
 * @throws ConfigError if a configuration file cannot be read
 */
export async function configuredTarget(
  { file: flag, url, postgres: server }: TargetOptions,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Pick<TargetOptions, 'file' | 'postgres' | 'schema'>> {
  const given = [flag, url, server, ...SELECTING.map((name) => env[name] || undefined)]
  if (given.some((each) => each !== undefined)) return {}
  const named = env['MILLRACE_CONFIG'] || undefined
  if (named === undefined && !readdirSync(cwd).some((name) => name.startsWith('millrace.config.'))) return {}
  const [{ readFiles }, { Layers }] = await Promise.all([import('../config/files.ts'), import('../config/layers.ts')])
  const layers = new Layers()
  const environment = env['MILLRACE_ENV'] || env['NODE_ENV'] || undefined
  for (const layer of await readFiles({ cwd, configFile: named, environment })) layers.add(layer)
  // The rest is the daemon's to check.
  const { file, postgres, schema } = layers.values as Readonly<Record<string, unknown>>
  if (typeof postgres === 'string') return { postgres, ...(typeof schema === 'string' && { schema }) }
  return typeof file === 'string' && file !== ':memory:' ? { file } : {}
}
