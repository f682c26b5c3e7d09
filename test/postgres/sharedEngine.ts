/** One engine for all tests of a file whose subject is not how an engine opens: each has job names of its own. */
import { type Engine, type OpenPostgresOptions, openEngine } from '@millrace/engine'
import { afterAll, type TestContext } from 'vitest'
import { keptSchema } from './keptSchema.ts'
import type { TestSchema } from './test.ts'

export interface Shared extends TestSchema {
  readonly engine: Engine
}

/** Returns a function that returns the engine of the file, which ends with it. */
export function shareEngine(options: Partial<OpenPostgresOptions> = {}): (context: Pick<TestContext, 'skip'>) => Promise<Shared> {
  let shared: Promise<Shared> | undefined
  const open = async (schema: TestSchema): Promise<Shared> => {
    const engine = await openEngine({ postgres: schema.url, schema: schema.schema, durability: 'normal', logger: false, ...options })
    return { ...schema, engine }
  }
  afterAll(async () => {
    await (await shared)?.engine.stop()
  })
  return (context) => {
    shared ??= open(keptSchema(context))
    return shared
  }
}
