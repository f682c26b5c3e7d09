/** Scans one folder: a hash job for each file, a scan job for each folder in it, all committed with the completion of this one. */
import type { Context } from '@millrace/engine'
import { hash, type ScanOutput, scan } from './jobs.ts'
import { type IsOwn, type Part, scanFolder } from './scanFolder.ts'
import { tryTwice } from './tries.ts'

export function scanHandler(isOwn: IsOwn) {
  return scan.handler(
    (context: Context<Part>): Promise<ScanOutput> =>
      tryTwice(context, async () => {
        const { enqueue, data } = context
        const found = await scanFolder(data, isOwn)
        for (const part of found.parts) enqueue(scan, part)
        for (const path of found.folders) enqueue(scan, { path })
        for (const path of found.files) enqueue(hash, { path })
        return { links: found.links, special: found.special }
      }),
  )
}
