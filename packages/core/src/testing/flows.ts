/** Creates flows for tests. */

import type { OnParentFailure } from '../flow.ts'
import type { FlowCommand } from '../flowCommands.ts'
import type { Enqueued } from '../replies.ts'
import type { World } from './world.ts'

export interface TestNode {
  readonly job?: Partial<FlowCommand['nodes'][number]['job']>
  readonly parents?: readonly number[]
  readonly onFailure?: OnParentFailure
}

export function flowOf(nodes: readonly TestNode[], options: Pick<FlowCommand, 'idempotencyKey' | 'idempotencyTtl'> = {}): FlowCommand {
  return {
    op: 'flow',
    nodes: nodes.map(({ job, parents = [], onFailure = 'fail' }, index) => ({
      ref: `n${index}`,
      job: { name: 'a', data: `${index}`, ...job },
      parents,
      onFailure,
    })),
    ...options,
  }
}

/** Creates a flow and returns its jobs, in order. */
export function createFlow(world: World, nodes: readonly TestNode[]): Enqueued[] {
  const first = world.call<'flow'>(flowOf(nodes))
  return nodes.map((_, index) => ({ ...first, seq: first.seq + index }))
}
