/** The facts of the storage: how much room there is, and how fast the writer is. */
import type { StatsAnswer } from '../../api/answers.ts'
import { duration } from '../../format/durations.ts'
import { bytes, count } from '../../format/numbers.ts'
import { SETTINGS_TEXT as text } from './text.ts'

interface StorageFact {
  readonly name: string
  readonly value: string
  /** A time behind the value. */
  readonly at?: number
}

export function storageFacts({ writer, store }: StatsAnswer): readonly StorageFact[] {
  return [
    ...(store === undefined ? [] : roomFacts(store)),
    { name: text.wal, value: bytes(writer.walBytes) },
    journalFact(writer.journalBytes, store?.oldestEventAt),
    { name: text.commit, value: `${duration(writer.commitMsP50)}, ${duration(writer.commitMsP99)}` },
    { name: text.mailbox, value: count(writer.mailboxDepth) },
  ]
}

function roomFacts({ file, bytes: size, freeBytes, diskFreeBytes }: NonNullable<StatsAnswer['store']>): readonly StorageFact[] {
  return [
    { name: text.file, value: file ?? text.inMemory },
    { name: text.size, value: text.free(bytes(size), bytes(freeBytes)) },
    ...(diskFreeBytes === undefined ? [] : [{ name: text.disk, value: bytes(diskFreeBytes) }]),
  ]
}

function journalFact(journalBytes: number, oldestAt: number | undefined): StorageFact {
  const size = bytes(journalBytes)
  if (oldestAt === undefined) return { name: text.journal, value: size }
  return { name: text.journal, value: text.oldest(size), at: oldestAt }
}
