/** Sends messages to jobs. */
import {
  type CommandOf,
  encodeData,
  heldKeyOption,
  type JobRef,
  LIMITS,
  type SendOptions,
  type Sent,
  textOption,
  validateSendOptions,
} from '@millrace/core'
import { isOfKey, keyOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'

/** The arguments behind the name of a message. Its data can be left out only if its type allows `undefined`. */
export type SendArguments<Value> = undefined extends Value
  ? [data?: NoInfer<Value>, options?: SendOptions]
  : [data: NoInfer<Value>, options?: SendOptions]

/** The job of a message, as the command names it. */
export type Addressee = Pick<CommandOf<'send'>, 'id' | 'of'>

export function addresseeOf(job: JobRef): Addressee {
  return isOfKey(job) ? { of: heldKeyOption(job) } : { id: keyOf(job) }
}

export async function sendMessage(
  calls: Pick<Mailbox, 'call'>,
  to: Addressee,
  message: string,
  data: unknown,
  options: SendOptions = {},
): Promise<Sent> {
  const name = textOption('message', message)
  const sent = validateSendOptions(options)
  return calls.call<'send'>({ op: 'send', ...to, name, value: encodeData('message', data, LIMITS.bytesPerCommand), ...sent })
}
