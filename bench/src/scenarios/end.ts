/** The end of every scenario: how many turns were committed, and what the file has become once the engine is stopped. */
import { statSync } from 'node:fs'
import type { Engine } from '@millrace/engine'
import type { Figures } from '../measurement.ts'

export async function endOf(engine: Engine, file: string, jobs: number): Promise<Figures> {
  const { writer } = await engine.stats()
  await engine.stop()
  return {
    turns: writer.turns,
    turnSizeP50: writer.turnSizeP50,
    commitP50Ms: writer.commitMsP50,
    commitP99Ms: writer.commitMsP99,
    fileBytesPerJob: statSync(file).size / jobs,
  }
}
