/**
 * `--url http://host:port`: the address that `millrace serve` prints first. The HTTP API tells where the engine's socket is
 * (`GET /v1/sockets`), and the command attaches to that socket: there is no second client over HTTP.
 *
 * The server may be hostile: at a port of this machine, any of its users may listen while the daemon is down. ADR 67 says why it cannot
 * get the token, or lead the command elsewhere:
 *
 * 1. The request has no token, follows no redirect, and its answer is short and checked.
 * 2. The answer names no host. `tls://` is tried at the host of the URL, where a certificate proves its name.
 * 3. A Unix socket is opened only for a URL of this machine, if it is the very file that the server has named, if it belongs to this user,
 *    and if nobody else may replace it or a folder above it. So the process behind it has the rights of this user already, or those of root.
 * 4. Nothing tells who listens at a TCP port or a pipe of this machine. The message names the address, and the user decides.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { ConnectFailedError } from '@millrace/remote'
import { fileIdentity, isLoopback } from '../machine.ts'
import { within } from './clock.ts'
import { UsageError } from './errors.ts'

/** The time for the answer. */
const PATIENCE_MS = 5_000
/** The largest answer. */
const ANSWER_BYTES = 64 * 1024
const PATH = 'v1/sockets'
/** Hosts that a server prints if it listens at all addresses of its machine. */
const ANY = new Set(['0.0.0.0', '[::]'])

interface Place {
  readonly kind: string
  readonly path?: unknown
  readonly file?: unknown
  readonly port?: unknown
}

/**
 * Returns the address of the socket of the engine whose HTTP API is at `url`.
 *
 * @throws UsageError for a URL with a password, a query or a fragment; ConnectFailedError if no such API answers, or if it has no socket
 * that is safe to open from here
 */
export async function socketBehind(url: string): Promise<string> {
  const base = baseOf(url)
  const places = placesIn(await answerOf(base), base)
  const isHere = isLoopback(base.hostname) || ANY.has(base.hostname)
  const refusals: string[] = []
  for (const { kind, path, file, port } of places) {
    if (kind === 'unix' && isHere && typeof path === 'string') {
      const found = safeSocket(path, file)
      if ('real' in found) return `unix:${found.real}`
      refusals.push(`unix:${path} ${found.refusal}`)
    }
    if (kind === 'tcp' && isHere) refusals.push(unproven(`tcp://${base.hostname}:${port}`))
    if (kind === 'pipe' && isHere) refusals.push(unproven(`pipe:${path}`))
  }
  const tls = places.find(({ kind, port }) => kind === 'tls' && Number.isInteger(port))
  if (tls !== undefined) return `tls://${base.hostname}:${tls.port}`
  throw new ConnectFailedError(`the engine at ${url} answers over HTTP, and ${refusals.join('; ') || noneText(isHere)}`)
}

/** Returns the URL with a slash at its end, as the base of paths. */
function baseOf(url: string): URL {
  const base = URL.parse(url)
  if (base === null || base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '')
    throw new UsageError(
      '--url must be http://host:port or https://host:port, followed by nothing but a path: set the token in MILLRACE_TOKEN',
    )
  base.pathname = base.pathname.replace(/\/*$/, '/')
  return base
}

/** Asks without a token. */
async function answerOf(base: URL): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(new URL(PATH, base), {
      redirect: 'manual',
      signal: within(PATIENCE_MS),
      headers: { accept: 'application/json' },
    })
  } catch (cause) {
    const reason = reasonOf(cause)
    const remedy = /CERT|SIGNATURE/.test(reason)
      ? 'set NODE_EXTRA_CA_CERTS to the file with the authority of its certificate'
      : 'start the daemon with millrace serve, or name its address'
    throw new ConnectFailedError(`nothing answers at ${base.origin} (${reason}): ${remedy}`, { cause })
  }
  try {
    if (response.status !== 200) throw new Error(`it answers with status ${response.status}`)
    return JSON.parse(await shortText(response))
  } catch (cause) {
    throw strange(base, reasonOf(cause), { cause })
  } finally {
    await response.body?.cancel().catch(() => {})
  }
}

/** Returns the text of an answer, but reads no more than one may have. */
async function shortText({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body ?? []) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES) throw new Error(`it answers with more than ${ANSWER_BYTES} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function placesIn(answer: unknown, base: URL): readonly Place[] {
  const { sockets } = (answer ?? {}) as { readonly sockets?: unknown }
  const isPlace = (each: unknown): each is Place => typeof (each as Place | null)?.kind === 'string'
  if (Array.isArray(sockets) && sockets.every(isPlace)) return sockets
  throw strange(base, 'it lists no sockets')
}

/** Returns the path of a Unix socket with no link in it, or why it is not opened: it must be the file that the server means, and this user's. */
function safeSocket(path: string, file: unknown): { readonly real: string } | { readonly refusal: string } {
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    return {
      refusal:
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? 'is not on this machine: the engine runs on another one, or in a container. Give --url its tls:// address'
          : 'is in a folder that this user cannot enter: run the command as the user of the daemon, or give --url an address that listens',
    }
  }
  const stats = lstatSync(real)
  if (!isAbsolute(path) || lstatSync(path).isSymbolicLink() || !stats.isSocket() || fileIdentity(real) !== file)
    return { refusal: 'is another file on this machine: the engine runs elsewhere' }
  const own = process.getuid?.()
  if (stats.uid !== own)
    return { refusal: `belongs to another user (${stats.uid}), who would get the token. If you trust that user, give --url unix:${path}` }
  const folder = foldersOf(real).find((each) => mayBeReplaced(each, own))
  if (folder === undefined) return { real }
  return { refusal: `is in ${folder}, where other users may replace files. If you trust them, give --url unix:${path}` }
}

function foldersOf(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path ? [folder] : [folder, ...foldersOf(folder)]
}

/** True if another user than this one and root may replace what is in the folder. */
function mayBeReplaced(folder: string, own: number | undefined): boolean {
  const { uid, mode } = lstatSync(folder)
  const [othersWrite, onlyTheirOwn] = [(mode & 0o022) !== 0, (mode & 0o1000) !== 0]
  return (uid !== 0 && uid !== own) || (othersWrite && !onlyTheirOwn)
}

function unproven(url: string): string {
  return `any user of this machine may have opened its socket ${url}, and would get the token. If you trust it, give --url ${url}`
}

function noneText(isHere: boolean): string {
  return isHere
    ? 'has no socket: start it with --listen unix:/path/millrace.db-socket'
    : 'has no socket that this machine can reach: start it with --listen tls://0.0.0.0:7411 --tls-key <file> --tls-cert <file>'
}

function strange({ href }: URL, reason: string, options?: ErrorOptions): ConnectFailedError {
  const message = `${href} is not an HTTP API that lists its sockets (GET ${PATH}: ${reason}): give the address of a socket that millrace serve prints, such as unix:/path/millrace.db-socket`
  return new ConnectFailedError(message, options)
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const { code, message: why } = (cause ?? {}) as NodeJS.ErrnoException
  return code ?? (why || message)
}
