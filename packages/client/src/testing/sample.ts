/** Answers made of the rows of their fields: as the engine sends them, and as the client is to return them. */
import { formatId } from '@millrace/core'
import type { Answer, AnswerKind, Answers } from '@millrace/core/answers'

export interface Sample {
  readonly wire: unknown
  readonly client: unknown
}

type Map = Record<string, unknown>

const AT = 1_795_000_000_000
const KEY = { seq: 42, node: 7, enqueuedAt: AT }

/** Returns an answer in which every field has a value, or with `empty` none that may lack it. */
export function sampleOf(rows: Answers, empty = false): { wire: Map; client: Map } {
  const wire: Map = {}
  const client: Map = {}
  for (const [name, row] of Object.entries(rows)) {
    const { wire: sent, client: shown } = empty && isOptional(row) ? nothing(row) : ofKind(row.kind, empty)
    if (row.kind.type === 'key') Object.assign(wire, sent)
    else if (sent !== undefined) wire[row.from ?? name] = sent
    client[name] = shown
  }
  return { wire, client }
}

function isOptional({ zero, nil, missing }: Answer): boolean {
  return (zero ?? nil ?? missing) !== undefined
}

function nothing({ zero, missing, otherwise }: Answer): Sample {
  return { wire: missing !== undefined ? undefined : zero !== undefined ? 0 : null, client: otherwise }
}

function ofKind(kind: AnswerKind, empty: boolean): Sample {
  switch (kind.type) {
    case 'key':
    case 'id':
      return { wire: KEY, client: formatId(KEY) }
    case 'time':
      return { wire: AT, client: new Date(AT) }
    case 'data':
    case 'json':
    case 'fields':
      return { wire: '{"n":1}', client: { n: 1 } }
    case 'choice':
      return same(kind.words[1])
    case 'record':
      return sampleOf(kind.rows, empty)
    case 'list': {
      const { wire, client } = ofKind(kind.of, empty)
      return { wire: [wire], client: [client] }
    }
    case 'map': {
      const { wire, client } = ofKind(kind.of, empty)
      return { wire: { a: wire }, client: { a: client } }
    }
    case 'options':
      return same({})
    default:
      return same(SCALARS[kind.type])
  }
}

const same = (value: unknown): Sample => ({ wire: value, client: value })

const SCALARS = {
  string: 'text',
  count: 3,
  number: 0.5,
  boolean: true,
  true: true,
  stamp: AT,
  duration: 1_500,
  endless: Number.POSITIVE_INFINITY,
  forever: 86_400_000,
  value: { n: 1 },
  backoff: { type: 'fixed', delay: 5 },
} as const
