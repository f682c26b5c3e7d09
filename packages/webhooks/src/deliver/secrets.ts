/** The secrets of a worker, by the names that jobs give. */
import { OptionTypeError } from '@millrace/core'
import type { JobInfo } from '@millrace/worker'
import { SecretMissingError } from '../errors.ts'
import { keysOf, type WebhookSecret } from '../signature.ts'

/** By name; or a function that finds them, undefined where there is none. */
export type Secrets =
  | Readonly<Record<string, WebhookSecret>>
  | ((name: string, job: JobInfo) => WebhookSecret | undefined | Promise<WebhookSecret | undefined>)

/** The keys of a name: those of a record are read once. */
export type Keyring = (name: string, job: JobInfo) => readonly Buffer[] | Promise<readonly Buffer[]>

/** @throws OptionTypeError, OptionRangeError: a record with what is no secret in it, or with one under two names */
export function keyring(secrets: unknown): Keyring {
  if (typeof secrets === 'function') return (name, job) => askedFor(secrets as Extract<Secrets, (...args: never[]) => unknown>, name, job)
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets))
    throw new OptionTypeError('secrets', 'secrets is an object of secrets by name, or a function (name, job)')
  const known = new Map(Object.entries(secrets).map(([name, secret]) => [name, keysOf(`secrets.${name}`, secret)]))
  refuseShared(known)
  return (name) => known.get(name) ?? missing(name)
}

/** A name is of one receiver: of two that have the same secret, each could sign what the other one takes. */
function refuseShared(known: ReadonlyMap<string, readonly Buffer[]>): void {
  const owners = new Map<string, string>()
  for (const [name, keys] of known) {
    for (const key of keys) {
      const owner = owners.get(key.toString('base64'))
      if (owner !== undefined && owner !== name) {
        const message = `secrets.${name} has a secret of secrets.${owner}, and each receiver has its own: make another, or use one name`
        throw new OptionTypeError(`secrets.${name}`, message)
      }
      owners.set(key.toString('base64'), name)
    }
  }
}

async function askedFor(find: Extract<Secrets, (...args: never[]) => unknown>, name: string, job: JobInfo): Promise<readonly Buffer[]> {
  const secret = await find(name, job)
  if (secret === undefined) return missing(name)
  try {
    return keysOf(`the secret '${name}'`, secret)
  } catch (error) {
    throw new SecretMissingError((error as Error).message)
  }
}

function missing(name: string): never {
  throw new SecretMissingError(`this worker has no secret '${name}': add it to the option secrets`)
}
