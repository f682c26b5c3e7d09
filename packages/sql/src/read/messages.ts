/** Reads the messages that jobs keep until a wait takes them. */
import type { Data, KeptMessage } from '@millrace/core'
import type { MessageRecord, TurnReads } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'
import type { SqlValue } from '../value.ts'
import { cutBySize, type SizedRow, type StepValue } from './steps.ts'

type RawMessage = [number: number, name: string, at: number, by: string | null, value: Data, bytes: Uint8Array | null]

/** The columns of `message` but for its value, in the order of `messageValues`. */
export const MESSAGE_COLUMNS = 'seq, number, name, at, sender'

export function messageValues({ seq, number, name, at, by }: MessageRecord): SqlValue[] {
  return [seq, number, name, at, by ?? null]
}

export function prepareMessages(prepare: Prepare, { columns, bytes }: StepValue): TurnReads['messages'] {
  const reading = (where: string) => ({
    sizes: prepare<SizedRow>(`SELECT number, ${bytes} FROM message WHERE ${where} ORDER BY number LIMIT ?`),
    page: prepare<RawMessage>(`SELECT number, name, at, sender, ${columns} FROM message WHERE ${where} AND number <= ? ORDER BY number`),
  })
  const all = reading('seq = ?')
  const named = reading('seq = ? AND name = ?')
  return (seq, name, limit, most) => {
    const { sizes, page } = name === undefined ? all : named
    const place = name === undefined ? [seq] : [seq, name]
    const { last } = cutBySize(sizes.all(...place, limit + 1), limit, most)
    return last === undefined ? [] : page.all(...place, last).map(messageFrom)
  }
}

function messageFrom([number, name, at, by, value, bytes]: RawMessage): KeptMessage {
  return { number, name, at, value: value ?? bytes, ...(by !== null && { by }) }
}
