/**
 * What reached the files, in order, as the VFS wrote it down, and the marks of the program between: each was appended with one write
 * to the one file, so that their order is the truth.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { Call, Effect } from './ledger.ts'

/** As in faultvfs.c. */
const KINDS = [undefined, 'open', 'write', 'truncate', 'sync', 'delete', 'failed', 'mark'] as const
const MARK = 7
const HEADER_BYTES = 16
const NO_BYTES = new Uint8Array()

export type Mark =
  /** The so-many-th turn begins to write; the time by the engine's clock. */
  | { readonly begin: number; readonly at: number }
  /** It has been written, or has failed so, while so many calls waited for it. */
  | { readonly end: number; readonly failure?: string; readonly waiting: number }
  /** Answers are given, after so many turns. */
  | { readonly acknowledged: number }
  /** A call is made ... */
  | { readonly sent: number; readonly op: string; readonly effects: readonly Effect[] }
  /** ... and answered; 0 where nobody called, as for a job that is handed out. */
  | { readonly answered: number; readonly call: Call }
  /** The program could not go on. */
  | { readonly ended: string }
  /** The process itself has changed a file, beside SQLite; the data as base64. */
  | { readonly own: OwnChange & { readonly data?: string } }
  /** From here on a file is gone; from here on all that was answered is to be found again. */
  | { readonly rescue: 'harmed' | 'done' }

/** The operations on files that a process makes without SQLite. */
export type OwnChange =
  | { readonly kind: 'open' | 'sync' | 'delete'; readonly file: string; readonly flags: number }
  | { readonly kind: 'write'; readonly file: string; readonly offset: number }
  | { readonly kind: 'link' | 'rename'; readonly from: string; readonly file: string }
  | { readonly kind: 'syncFolder' }

export type Operation =
  | Exclude<OwnChange, { readonly kind: 'write' }>
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly data: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  /** It was made to fail. */
  | { readonly kind: 'failed'; readonly file: string; readonly what: 'write' | 'truncate' | 'sync' }
  | { readonly kind: 'mark'; readonly mark: Mark }

/** The operations of a trace; what failed by itself, as on a disk that is really full, is an error here. */
export function readTrace(bytes: Buffer): Operation[] {
  const names = new Map<number, string>()
  const operations: Operation[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const kind = KINDS[bytes.readUInt8(at)]
    const failed = bytes.readUInt8(at + 1) === 1
    const id = bytes.readUInt16LE(at + 2)
    const length = bytes.readUInt32LE(at + 4)
    const number = Number(bytes.readBigInt64LE(at + 8))
    const data = length === 0 ? NO_BYTES : bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length)
    at += HEADER_BYTES + length
    // Killed in the midst of it: the operation itself had happened, and is the last.
    if (at > bytes.length) break
    if (kind === 'open' || kind === 'delete') names.set(id, Buffer.from(data).toString())
    const file = names.get(id) ?? ''
    if (kind === undefined || (failed && kind !== 'failed')) throw new Error(`the trace has a ${kind} that is no operation, at ${at}`)
    if (kind === 'mark') operations.push(marked(JSON.parse(Buffer.from(data).toString()) as Mark))
    else if (kind === 'write') operations.push({ kind, file, offset: number, data })
    else if (kind === 'truncate') operations.push({ kind, file, size: number })
    else if (kind === 'failed') operations.push({ kind, file, what: KINDS[number] as 'write' | 'truncate' | 'sync' })
    else operations.push({ kind, file, flags: number })
  }
  return operations
}

function marked(mark: Mark): Operation {
  if (!('own' in mark)) return { kind: 'mark', mark }
  const { data = '', ...change } = mark.own
  return change.kind === 'write' ? { ...change, data: Buffer.from(data, 'base64') } : change
}

/** Every call that was made so far: what has no answer is in doubt. */
export function callsOf(operations: readonly Operation[]): Call[] {
  const calls: Call[] = []
  const waiting = new Map<number, Pick<Call, 'op' | 'effects'>>()
  for (const operation of operations) {
    if (operation.kind !== 'mark') continue
    const { mark } = operation
    if ('sent' in mark) waiting.set(mark.sent, mark)
    if (!('answered' in mark)) continue
    waiting.delete(mark.answered)
    calls.push(mark.call)
  }
  const at = calls.at(-1)?.at ?? 0
  const doubtful = [...waiting.values()].map(({ op, effects }): Call => ({ op, effects, outcome: 'unknown', commit: 0, turn: 0, at }))
  return [...calls, ...doubtful]
}

/** The time of the last thing that happened, by the engine's clock. */
export function latest(operations: readonly Operation[]): number {
  return operations.reduce((time, operation) => {
    if (operation.kind !== 'mark') return time
    const { mark } = operation
    return Math.max(time, 'begin' in mark ? mark.at : 'answered' in mark ? mark.call.at : 0)
  }, 0)
}

/** Appends marks to a trace. */
export class Marker {
  readonly #descriptor: number

  constructor(trace: string) {
    this.#descriptor = openSync(trace, 'a')
  }

  readonly mark = (mark: Mark): void => {
    const text = Buffer.from(JSON.stringify(mark))
    const record = Buffer.alloc(HEADER_BYTES + text.length)
    record.writeUInt8(MARK, 0)
    record.writeUInt32LE(text.length, 4)
    text.copy(record, HEADER_BYTES)
    writeSync(this.#descriptor, record)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
