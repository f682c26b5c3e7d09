// docs/internals.md prints the way of a request through the files of a turn, from message to reply. Each function calls those below it, in that order.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

interface Stop {
  /** The functions that one calls stand below it, one deeper. */
  readonly depth: number
  readonly file: string
  readonly name: string
  /** The call, as the caller writes it. */
  readonly call: string
  readonly does: string
}

const stop = (depth: number, file: string, name: string, call: string, does: string): Stop => ({ depth, file, name, call, does })
const ACTOR = 'packages/engine/src/actor'
const KERNEL = 'packages/core/src/kernel'

const WAY: readonly Stop[] = [
  stop(0, `${ACTOR}/loop.ts`, '#run', '', 'takes in the messages that have arrived, and takes turns until none is due'),
  stop(1, `${ACTOR}/actor.ts`, 'turn', 'actor.turn()', 'takes one turn'),
  stop(2, `${ACTOR}/inbox.ts`, 'take', '#inbox.take()', 'hands over the mail of this turn'),
  stop(2, `${ACTOR}/failures.ts`, 'take', 'failures.take(', 'puts the mail back if the turn must be tried again'),
  stop(3, `${ACTOR}/failures.ts`, '#decide', '#decide(', 'handles a turn that fails'),
  stop(4, `${ACTOR}/actor.ts`, '#decide', '#turns.decide(', 'adds what the actor knows: the tables, the time, and why it refuses work'),
  stop(5, `${KERNEL}/turn/takeTurn.ts`, 'takeTurn', 'takeTurn(', 'is the turn'),
  stop(6, `${KERNEL}/turn/gather.ts`, 'gather', 'gather(', 'collects the questions of all features'),
  stop(7, `${KERNEL}/state/plan.ts`, 'run', 'plan.run(', 'asks the store all of them at once'),
  stop(6, `${KERNEL}/flows/propagate.ts`, 'propagate', 'propagate(', 'notifies children of their parents’ outcomes'),
  stop(6, `${KERNEL}/turn/decide.ts`, 'decide', 'decide(', 'maps each command to the function that decides it'),
  stop(6, `${KERNEL}/turn/fireTimers.ts`, 'fireTimers', 'fireTimers(', 'handles what time alone causes'),
  stop(6, `${KERNEL}/turn/dispatch.ts`, 'dispatch', 'dispatch(', 'hands waiting jobs to workers that have room'),
  stop(6, `${KERNEL}/turn/takeTurn.ts`, 'write', 'write(', 'gives the effects to the store'),
  stop(7, 'packages/sqlite/src/write/write.ts', 'writeAll', 'store.write(', 'writes them in one transaction'),
  stop(2, `${ACTOR}/actor.ts`, '#deliver', '#deliver(', 'runs after the commit'),
  stop(3, `${ACTOR}/waiters/waiters.ts`, 'committed', 'waiters.committed(', 'finds the calls that waited for what was committed'),
  stop(3, `${ACTOR}/deliveries.ts`, 'add', 'deliveries.add()', 'adds grants, notices and events to the replies'),
  stop(3, `${ACTOR}/waiters/waiters.ts`, 'settle', 'waiters.settle(', 'answers the calls that waited for a job’s end'),
  stop(3, `${ACTOR}/connections.ts`, 'send', '#connections.send(', 'posts one delivery to each connection'),
]

/** The text of a function, up to the brace that ends it. */
function bodyOf({ file, name }: Stop): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const head = new RegExp(`^( *)(?:export )?(?:function |const )?${name}(?: = )?\\(`, 'm').exec(text)
  if (head === null) throw new Error(`${file} has no ${name}`)
  const rest = text.slice(head.index)
  return rest.slice(0, rest.indexOf(`\n${head[1]}}`))
}

/** The functions that one calls: those below it, up to the next that is not deeper. */
function calledBy(index: number): Stop[] {
  const { depth } = WAY[index] as Stop
  const below = WAY.slice(index + 1)
  const end = below.findIndex((other) => other.depth <= depth)
  return below.slice(0, end < 0 ? undefined : end).filter((other) => other.depth === depth + 1)
}

test.each(WAY.map((each, index) => [`${each.file} ${each.name}`, each, index] as const))(
  '%s calls those below it in their order',
  (_, each, index) => {
    const body = bodyOf(each)
    let at = 0
    for (const { call } of calledBy(index)) {
      const next = body.indexOf(call, at)
      expect(next, call).toBeGreaterThan(0)
      at = next + call.length
    }
  },
)

test('the page prints them', () => {
  const rows = WAY.map(
    ({ depth, file, name, does }) =>
      `| ${'· '.repeat(depth)}\`${name}\` | [${file.replace(/^packages\/|\/src/g, '')}](../${file}) | ${does} |`,
  )
  const table = ['| function | file | it |', '|---|---|---|', ...rows].join('\n')
  const [, shown] = readFileSync(join(ROOT, 'docs/internals.md'), 'utf8').split('<!-- table: way -->\n')
  expect(shown?.split('\n<!-- end -->')[0]).toBe(table)
})
