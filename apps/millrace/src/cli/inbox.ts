/** The inbox of a schema that nobody owns: jobs wait in it for the next owner, so a short command need not become one. */
import { type InboxEntry, inboxEntryOf, type JobHandle, type JobRequest, newJobOf } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { chance, now } from './clock.ts'
import type { Output } from './output/output.ts'
import { noServer, type Target, targetName, unowned } from './target.ts'

/** The call of an engine that an inbox has, too. */
export interface Enqueuer {
  enqueueMany(requests: readonly JobRequest[]): Promise<readonly Pick<JobHandle, 'id' | 'created'>[]>
}

/** Returns the inbox of a schema that nobody owns, and creates the schema if there is none. Returns undefined if there is an owner. */
export async function inboxOf(target: Target, out: Output): Promise<Enqueuer | undefined> {
  const owners = await unowned(target)
  if (owners === undefined) return undefined
  const { inspectSchema, openStore } = await import('@millrace/postgres')
  const { url, schema } = owners
  try {
    if (inspectSchema({ url, schema }).schemaVersion === 0)
      openStore({ url, schema, durability: 'full', waitMs: 0, random: chance, now: now() }).close()
  } catch (error) {
    return noServer(error)
  }
  out.note(`no process owns ${targetName(target)}: jobs wait in its inbox until one does, such as millrace serve or millrace worker start`)
  return {
    enqueueMany: async (requests) => {
      const entries = await Promise.all(requests.map(entryOf))
      return (await owners.enqueue(entries)).map((id) => ({ id, created: true }))
    },
  }
}

async function entryOf({ job, data, options }: JobRequest): Promise<InboxEntry> {
  return inboxEntryOf(await newJobOf(job, data, options, LIMITS.bytesPerCommand))
}
