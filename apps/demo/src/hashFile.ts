/** The module of the thread pool: hashes one file. */
import type { Context } from '@millrace/engine'
import { hashContent } from './hashContent.ts'
import type { HashData, HashOutput } from './jobs.ts'
import { tryTwice } from './tries.ts'

export function handler(context: Context<HashData>): Promise<HashOutput> {
  return tryTwice(context, async () => {
    const startMono = performance.now()
    const content = await hashContent(context.data.path, context.signal)
    return { ...content, ms: performance.now() - startMono }
  })
}
