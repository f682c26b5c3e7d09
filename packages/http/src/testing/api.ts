/** The API over an engine. Each answer is checked against the OpenAPI document and the schemas that it is generated from. */
import type { Engine } from '@millrace/client'
import { SECURITY_HEADERS } from '../answer.ts'
import { buildHttp, type HttpApi } from '../createHttp.ts'
import type { OpenApiDocument } from '../document.ts'
import type { Operation } from '../operation.ts'
import type { HttpOptions } from '../options.ts'
import { PROBLEM } from '../schemas/job.ts'
import { ManualClock } from './manualClock.ts'

export interface Sent {
  readonly body?: unknown
  /** A body to send as it is, in place of JSON. */
  readonly raw?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
  readonly env?: unknown
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is its own affair
  readonly body: any
}

export const TOKEN = 'test-token-0123456789abcdef'

export function testApi(engine: Engine, options: HttpOptions = { token: TOKEN }) {
  const clock = new ManualClock()
  let ids = 0
  // Secrets are of 32 bytes, and the same for two APIs; what is of another length is for once.
  const newSecret = (bytes: number) => new Uint8Array(bytes).fill(bytes === 32 ? 7 : ++ids)
  const built = buildHttp(engine, options, { clock, newId: () => `id-${++ids}`, newSecret })
  const { api, operations } = built
  /** The requests that were sent so far, as `operation status`. */
  const seen = new Set<string>()

  const open = (method: string, path: string, sent: Sent = {}): Promise<Response> => {
    const { body, raw, headers, token = TOKEN, env, signal } = sent
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), authorization: `Bearer ${token}`, ...headers },
      ...(content !== undefined && { body: content, duplex: 'half' }),
      ...(signal !== undefined && { signal }),
    }
    return api.fetch(new Request(`http://localhost${path}`, init), env)
  }

  const send = async (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    const response = await open(method, path, sent)
    const { status, headers } = response
    const text = await response.text()
    const type = headers.get('content-type') ?? ''
    const answer: Answer = { status, headers, body: /json/.test(type) && text !== '' ? JSON.parse(text) : text }
    conform(method, path, answer)
    return answer
  }

  const conform = (method: string, path: string, { status, headers, body }: Answer): void => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      const given = headers.get(name)
      if (name === 'content-security-policy' ? !given?.startsWith("default-src 'none'") : given !== value)
        throw new Error(`${method} ${path}: ${name} is ${given}`)
    }
    const type = headers.get('content-type')
    if (status >= 400 && type !== 'application/problem+json' && !path.startsWith('/readyz'))
      throw new Error(`${method} ${path}: ${status} as ${type}`)
    const operation = find(operations, method, path)
    if (operation === undefined) return
    seen.add(`${operation.id} ${status}`)
    const shape = operation.responses[status]
    const { responses } = documentedOf(documentOf(api, operations), operation)
    const documented = responses[status]
    if (documented === undefined) throw new Error(`${operation.id}: ${status} is not documented: ${JSON.stringify(body)}`)
    if (
      documented.content === undefined
        ? type !== null
        : !(type !== null && (type in documented.content || (type.split(';')[0] as string) in documented.content))
    )
      throw new Error(`${operation.id}: ${status} is ${type}, and documented as ${Object.keys(documented.content ?? {})}`)
    const schema = shape === undefined ? PROBLEM : shape.schema
    const checked = schema?.safeParse(body)
    if (checked?.error !== undefined)
      throw new Error(`${operation.id}: ${status} is not as documented: ${checked.error.message}\n${JSON.stringify(body)}`)
  }

  return { api, operations, clock, open, send, seen }
}

/** Two APIs of the same operations are documented in the same way, and the document is dear. */
const documents = new Map<string, OpenApiDocument>()

function documentOf(api: HttpApi, operations: readonly Operation[]): OpenApiDocument {
  const key = operations.map(({ id, path }) => `${id} ${path}`).join()
  const known = documents.get(key) ?? api.document()
  documents.set(key, known)
  return known
}

interface Documented {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

function documentedOf({ paths }: OpenApiDocument, { path, method, id }: Operation): Documented {
  const found = (paths as Readonly<Record<string, Readonly<Record<string, Documented>>>>)[path]?.[method]
  if (found === undefined) throw new Error(`${id} is not in the document`)
  return found
}

function find(operations: readonly Operation[], method: string, path: string): Operation | undefined {
  const [only = ''] = path.split('?')
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(only)
  return operations.find((each) => each.method.toUpperCase() === method && fits(each.path))
}
