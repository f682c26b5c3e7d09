/** The secrets of a worker by the names that jobs give, and what each of them may sign. */
import { checkKnown, OptionTypeError } from '@millrace/core'
import type { JobInfo } from '@millrace/worker'
import { SecretMissingError, SecretRefusedError } from '../errors.ts'
import type { WebhookData } from '../job.ts'
import { isProven } from '../proof.ts'
import { hostsOption, hostTest } from '../safety/target.ts'
import { keysOf, type WebhookSecret } from '../signature.ts'

/** A secret that signs jobs of every producer, but only to these hosts. */
export interface HostSecret {
  readonly keys: WebhookSecret
  /** `example.com`, `*.example.com` for its subdomains, or `'*'` for all: then every producer can have anything signed for anybody. */
  readonly hosts: readonly string[] | '*'
}

/** A secret. Without hosts, it signs only deliveries of `EventWebhooks`, whose option `secrets` must have it too. */
export type Secret = WebhookSecret | HostSecret

/** Secrets by name, or a function that finds them and returns undefined if there is none. */
export type Secrets = Readonly<Record<string, Secret>> | ((name: string, job: JobInfo) => Secret | undefined | Promise<Secret | undefined>)

/** A secret that was read and checked. */
export interface KnownSecret {
  readonly keys: readonly Buffer[]
  /** True for a host that the secret signs for. Undefined if it signs only deliveries of endpoints. */
  readonly allows: ((hostname: string) => boolean) | undefined
}

type Found = KnownSecret | undefined

/** Finds the secret of a name. The secrets of a record are read once. */
export type Keyring<Asker extends readonly unknown[] = []> = (name: string, ...asker: Asker) => Found | Promise<Found>

/** @throws OptionTypeError, OptionRangeError if a record contains an invalid secret, or the same one under two names */
export function keyring<Asker extends readonly unknown[]>(secrets: unknown): Keyring<Asker> {
  if (typeof secrets === 'function') return (name, ...asker) => askedFor(secrets as (...args: unknown[]) => unknown, name, asker)
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets))
    throw new OptionTypeError('secrets', 'secrets must be an object of secrets by name, or a function (name, job)')
  const known = new Map(Object.entries(secrets).map(([name, secret]) => [name, secretOf(`secrets.${name}`, secret)]))
  refuseShared(known)
  return (name, ..._asker) => known.get(name)
}

/** Reads a secret. Error messages never contain the secret itself. */
function secretOf(option: string, value: unknown): KnownSecret {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { keys: keysOf(option, value), allows: undefined }
  checkKnown(option, value, new Set(['keys', 'hosts']))
  const { keys, hosts } = value as Partial<HostSecret>
  return { keys: keysOf(`${option}.keys`, keys), allows: hosts === '*' ? () => true : hostTest(hostsOption(`${option}.hosts`, hosts)) }
}

/** Refuses a secret under two names. If two receivers had the same secret, each could sign what the other one accepts. */
function refuseShared(known: ReadonlyMap<string, KnownSecret>): void {
  const owners = new Map<string, string>()
  for (const [name, { keys }] of known) {
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

async function askedFor(find: (...args: unknown[]) => unknown, name: string, asker: readonly unknown[]): Promise<Found> {
  const secret = await find(name, ...asker)
  if (secret === undefined) return undefined
  try {
    return secretOf(`the secret '${name}'`, secret)
  } catch (error) {
    throw new SecretMissingError((error as Error).message)
  }
}

/** Returns the keys that sign a webhook, or none if it names no secret. @throws SecretMissingError, SecretRefusedError */
export async function keysFor(find: Keyring<[JobInfo]>, data: WebhookData, { url, job }: { readonly url: URL; readonly job: JobInfo }) {
  if (data.secret === undefined) return []
  const name = data.secret
  const secret = await find(name, job)
  if (secret === undefined) throw new SecretMissingError(`this worker has no secret '${name}': add it to the option secrets`)
  const { keys, allows } = secret
  if (allows === undefined) checkProof(name, keys, data, job)
  else if (!allows(url.hostname.replace(/^\[|\]$/g, '')))
    throw new SecretRefusedError(`the secret '${name}' is not for ${url.hostname}: add the host to secrets.${name}.hosts, or name another`)
  return keys
}

function checkProof(name: string, keys: readonly Buffer[], data: WebhookData, { idempotencyKey }: JobInfo): void {
  if (data.proof === undefined) {
    throw new SecretRefusedError(
      `the secret '${name}' has no hosts, and so signs deliveries of EventWebhooks alone: secrets.${name} = { keys, hosts } signs jobs, to these hosts`,
    )
  }
  // The name may have had another secret when the delivery was made. A deploy may bring that one back.
  if (!isProven(keys, data, idempotencyKey)) {
    throw new SecretMissingError(
      `the secret '${name}' is not the one that this delivery was made with, or another job was: while one takes over, give both to workers and EventWebhooks`,
    )
  }
}
