/** What `events` and `exports` ask of the journal, and how its pages are shown. */
import {
  type Clock,
  type EventsSettings,
  type ExportOptions,
  type ExportView,
  type JournalEvent,
  type JournalGap,
  nameOption,
  validateExportOptions,
} from '@millrace/core'
import { type EventStream, type EventStreamItem, type Items, JournalStream } from './journalStream.ts'
import type { Mailbox } from './mailbox.ts'
import type { Sealer } from './seal.ts'
import { engineEventOf, type Job, jobOf } from './view.ts'

export function followEvents(mailbox: Mailbox, { after: first, filter, signal }: EventsSettings, clock: Clock): EventStream {
  let after = first
  return new JournalStream<'events', EventStreamItem>(
    mailbox,
    {
      ask: () => ({ op: 'events', after, filter }),
      read: ({ events, next, gap }): Items<EventStreamItem> => {
        after = next
        if (gap !== undefined) return [{ type: 'gap' as const, ...gap }, ...events.map(engineEventOf)]
        // Made as they are read: a page that comes for many streams at once takes next to no time.
        return { length: events.length, at: (index) => engineEventOf(events[index] as JournalEvent) }
      },
    },
    signal,
    clock,
  )
}

/** Jobs that have ended, to be taken elsewhere before they are forgotten here. */
export interface ExportBatch {
  /** Whole, as from `get`, in the order in which they ended. */
  readonly jobs: readonly Job[]
  /** Jobs that ended and were gone before they could be told. */
  readonly missed: number
  /** Before the batch: what ended there is not known here any more. */
  readonly gap: JournalGap | undefined
}

/** Exports by name: what each is yet to have is kept for it. */
export class Exports {
  readonly #mailbox: Mailbox
  readonly #assertOpen: () => void
  readonly #clock: Clock
  readonly #sealer: Sealer | undefined

  constructor(mailbox: Mailbox, assertOpen: () => void, clock: Clock, sealer: Sealer | undefined) {
    this.#clock = clock
    this.#mailbox = mailbox
    this.#assertOpen = assertOpen
    this.#sealer = sealer
  }

  /**
   * Finished jobs behind the export's mark, batch by batch; a name that is not known begins with the oldest event that is kept. To ask for
   * the next batch confirms the one before, and its mark is stored: at least once, through restarts.
   *
   * @throws OptionTypeError, OptionRangeError; while it is read, what ended it: UnsupportedError where the export was deleted, or is one
   * too many
   */
  read(name: string, options?: ExportOptions): JournalStream<'export', ExportBatch> {
    const { limit, signal } = validateExportOptions(options)
    const checked = nameOption('name', name)
    this.#assertOpen()
    let upTo: number | undefined
    return new JournalStream<'export', ExportBatch>(
      this.#mailbox,
      {
        ask: () => ({ op: 'export', name: checked, limit, ...(upTo !== undefined && { upTo }) }),
        read: ({ jobs, missed, next, gap }) => {
          upTo = next
          return jobs.length === 0 && missed === 0 && gap === undefined
            ? []
            : [{ jobs: jobs.map((view) => jobOf(view, this.#sealer)), missed, gap }]
        },
      },
      signal,
      this.#clock,
    )
  }

  /** Each with the last event that it is done with, and how many have come since. */
  list(): Promise<readonly ExportView[]> {
    return this.#mailbox.call<'exports'>({ op: 'exports' })
  }

  /** Nothing is kept for it any longer; answers whether there was one. Whoever reads it is told. */
  async delete(name: string): Promise<boolean> {
    return this.#mailbox.call<'deleteExport'>({ op: 'deleteExport', name: nameOption('name', name) })
  }
}
