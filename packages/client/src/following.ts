/** Defines how `events` and `exports` read the journal, and the items of their pages. */
import {
  type Clock,
  checkNone,
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
import type { PayloadCodec } from './payloadCodec.ts'
import { engineEventOf, type Job, jobOf } from './view.ts'

/** A cursor that no journal reaches: the engine answers at once, and the gap before nothing says where the journal ends. */
const BEYOND = Number.MAX_SAFE_INTEGER

export function followEvents(mailbox: Mailbox, { after: first, filter, signal }: EventsSettings, clock: Clock): EventStream {
  let after = first === 'now' ? BEYOND : first
  const stream = new JournalStream<'events', EventStreamItem>(
    mailbox,
    {
      ask: () => ({ op: 'events', after, filter }),
      read: ({ events, next, gap }): Items<EventStreamItem> => {
        const isPlace = first === 'now' && after === BEYOND
        after = next
        if (isPlace) return []
        if (gap !== undefined) return [{ type: 'gap' as const, ...gap }, ...events.map(engineEventOf)]
        // Created when they are read: a page that arrives for many streams at once then takes almost no time.
        return { length: events.length, at: (index) => engineEventOf(events[index] as JournalEvent) }
      },
    },
    signal,
    clock,
  )
  return first === 'now' ? stream.begin() : stream
}

/** Finished jobs, to be stored elsewhere before they are removed here. */
export interface ExportBatch {
  /** Complete jobs, as `get` returns them, in the order in which they ended. */
  readonly jobs: readonly Job[]
  /** The number of jobs that ended, and were removed before they could be exported. */
  readonly missed: number
  /** The gap before the batch, if any: jobs that ended within it are no longer known here. */
  readonly gap: JournalGap | undefined
}

/** Exports by name. Jobs that an export has yet to read are kept for it. */
export class Exports {
  readonly #mailbox: Mailbox
  readonly #assertOpen: () => void
  readonly #clock: Clock
  readonly #codec: PayloadCodec | undefined

  constructor(mailbox: Mailbox, assertOpen: () => void, clock: Clock, codec: PayloadCodec | undefined) {
    this.#clock = clock
    this.#mailbox = mailbox
    this.#assertOpen = assertOpen
    this.#codec = codec
  }

  /**
   * Reads the finished jobs after the export's cursor, batch by batch. An unknown name begins with the oldest event that is
   * kept. Asking for the next batch confirms the one before and stores its cursor: at least once, through restarts.
   *
   * @throws OptionTypeError, OptionRangeError; while it is read, the error that ended it: UnsupportedError if the export
   * was deleted, or if there are too many exports
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
            : [{ jobs: jobs.map((view) => jobOf(view, this.#codec)), missed, gap }]
        },
      },
      signal,
      this.#clock,
    )
  }

  /** Returns all exports, each with the last event that it has confirmed and the number of events since. */
  list(): Promise<readonly ExportView[]> {
    return this.#mailbox.call<'exports'>({ op: 'exports' })
  }

  /** Deletes an export: nothing is kept for it any longer, and its readers get an error. Returns true if it existed. */
  async delete(name: string): Promise<boolean>
  async delete(name: string, ...given: unknown[]): Promise<boolean> {
    checkNone('exports.delete', given, 'exports.list() shows all exports')
    return this.#mailbox.call<'deleteExport'>({ op: 'deleteExport', name: nameOption('name', name) })
  }
}
