import type { CommandOf, Operation, ReplyOf } from '@millrace/core'

/** The calls to the engine. */
export interface Calls {
  call<Op extends Operation>(command: CommandOf<Op>): Promise<ReplyOf[Op]>
}
