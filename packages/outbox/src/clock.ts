/** The only file that asks for random numbers. Time comes with the engine. */
import { randomInt, randomUUID } from 'node:crypto'
import type { Source } from '@millrace/client'
import { NODE_LIMIT } from '@millrace/core'

export function newSource(): Source {
  return { uuid: randomUUID(), number: randomInt(1, NODE_LIMIT) }
}
