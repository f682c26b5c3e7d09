/** Puts an image into a folder and opens it: quickly, by a connection alone, or as an engine does that starts after the power failed. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCalendar } from '@millrace/client/calendar'
import type { Delivery } from '@millrace/core'
import { InThreadEngine } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import type { Database } from '../../../packages/sqlite/src/driver.ts'
import { auditOf, brokenPages, digestOf, look, pagesOf } from './contents.ts'
import type { Image } from './disk.ts'
import { RETENTION } from './driver.ts'
import { payload } from './payload.ts'
import { DATABASE, OPENING } from './recording.ts'

const EVENTS_MAX = 1_000_000
/** An engine that was opened there leaves its own. */
const FILES = [DATABASE, `${DATABASE}-wal`, `${DATABASE}-journal`]

export interface Examined {
  /** Of the content as it was found, before anything changed it. */
  readonly digest: string | undefined
  readonly problems: string[]
}

/** Told of the connection while it is open, with the content as it was found. */
export type Looking = (db: Database, digest: string) => readonly string[]

export class Workbench {
  readonly file: string
  readonly #folder: string
  /** What lies in the folder and has not been changed since. */
  readonly #lying = new Map<string, Buffer>()
  /** The names of the image before. */
  #put: readonly string[] = []

  /** @param folder empty; of memory, so that many images can be tried */
  constructor(folder: string) {
    this.#folder = folder
    this.file = join(folder, DATABASE)
  }

  /** Nothing else is ever left of the image before. */
  put(image: Image): void {
    for (const name of new Set([...FILES, ...this.#put, ...image.keys()])) {
      const content = image.get(name)
      const lying = this.#lying.get(name)
      if (content !== undefined && content === lying) continue
      if (content !== undefined) writeFileSync(join(this.#folder, name), content)
      else rmSync(join(this.#folder, name), { force: true })
      if (content === undefined) this.#lying.delete(name)
      else this.#lying.set(name, content)
    }
    this.#put = [...image.keys()]
    rmSync(`${this.file}-shm`, { force: true })
    // The mark of a first start is there until the first commit: what is lost with the power is no file that was emptied. A journal is
    // there only before that commit, and is rolled back.
    if ((image.get(DATABASE)?.length ?? 0) === 0 || image.has(`${DATABASE}-journal`)) writeFileSync(`${this.file}-new`, '')
    else rmSync(`${this.file}-new`, { force: true })
  }

  /** What its pages are to a reader; undefined where it cannot be read, or something is to be rolled back or created first. */
  glance(image: Image): string | undefined {
    if (image.has(`${DATABASE}-journal`) || (image.get(DATABASE)?.length ?? 0) === 0) return undefined
    let db: Database | undefined
    try {
      db = look(this.file)
      return pagesOf(db)
    } catch {
      return undefined
    } finally {
      db?.close()
    }
  }

  /** Opens it as its owner, looks, and takes a new job. */
  async open(looking: Looking): Promise<Examined> {
    const problems: string[] = []
    let digest: string | undefined
    this.#lying.clear()
    let db: Database | undefined
    try {
      const store = openStore({ ...OPENING, file: this.file, durability: 'normal' })
      try {
        db = look(this.file)
        digest = digestOf(db)
        problems.push(...brokenPages(db), ...(digest === undefined ? ['has no tables'] : looking(db, digest)))
        problems.push(...journalProblems(store.events(0, EVENTS_MAX)))
        problems.push(...(await goesOn(store)), ...auditOf(db).map((problem) => `once it goes on: ${problem}`))
      } finally {
        // Left open it would stand in the way of the next image.
        db?.close()
        store.close()
      }
    } catch (error) {
      problems.push(`does not open: ${String(error)}`)
    }
    return { digest, problems }
  }
}

function journalProblems(events: readonly { readonly seq: number }[]): string[] {
  const gap = events.findIndex(({ seq }, index) => index > 0 && seq !== (events[index - 1] as { seq: number }).seq + 1)
  return gap < 0 ? [] : [`the journal has a gap before event ${events[gap]?.seq}`]
}

/** Tables are built, what was running is recovered, and a new job is accepted. */
async function goesOn(store: ReturnType<typeof openStore>): Promise<string[]> {
  const clock = new VirtualClock()
  const deliveries: Delivery[] = []
  const unowned = new Proxy(store, { get: (target, property) => (property === 'close' ? () => {} : Reflect.get(target, property)) })
  const engine = new InThreadEngine({
    store: unowned,
    clock,
    random: () => 0.5,
    settings: { recovery: 'immediate', retention: RETENTION, calendar: systemCalendar },
  })
  const port = engine.port()
  let ended: string | undefined
  port.listen({
    deliver: (delivery) => void deliveries.push(delivery),
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: (refusal) => {
      ended = refusal.message
    },
  })
  port.send([{ id: 1, command: { op: 'enqueue', jobs: [{ name: 'mail', data: payload(0, 10) }] } }])
  await quiet()
  engine.close()
  const reply = deliveries.flatMap(({ replies }) => replies)[0]
  if (ended !== undefined) return [`the engine ended: ${ended}`]
  return reply?.value === undefined ? [`takes no new job: ${reply?.refusal?.message ?? 'no answer'}`] : []
}
