/** The jobs of a group of failures: those that have failed permanently with its error. */
import type { Failure } from '../api/answers.ts'
import { cut } from '../format/cut.ts'
import { TEXT } from '../text.ts'
import type { Bulk } from './bulk.ts'

const MESSAGE_LENGTH = 120

export function jobsOfGroup({ queue, name, fingerprint, error, message }: Failure): Pick<Bulk, 'filter' | 'what'> {
  const such = message === undefined ? undefined : cut(message, MESSAGE_LENGTH)
  return { filter: { state: 'failed', queue, name, fingerprint }, what: TEXT.bulk.failedWith(`${queue} / ${name}`, error, such) }
}
