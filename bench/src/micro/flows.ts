/** What does it cost that jobs wait for one another? Their whole lives with the writes, in memory: created, handed out, completed. */

import type { Command, CommandOf } from '@millrace/core'
import type { Bench } from 'tinybench'
import { JOB, makeLives } from './lives.ts'
import { JOBS } from './turns.ts'

export function flows(bench: Bench): void {
  const plain: Command = { op: 'enqueue', jobs: Array.from({ length: JOBS }, () => JOB) }
  const chain = flowOf((place) => (place === 0 ? [] : [place - 1]))
  const fan = flowOf((place) => (place === 0 ? [] : [0]))
  const batch = flowOf((place) => (place === JOBS - 1 ? Array.from({ length: JOBS - 1 }, (_, parent) => parent) : []))
  const live = makeLives()
  bench.add(`${JOBS} plain jobs`, () => live(plain))
  bench.add(`${JOBS} jobs: one, and the others once that has ended`, () => live(fan))
  bench.add(`${JOBS} jobs: a batch with its callback`, () => live(batch))
  bench.add(`${JOBS} jobs: each after the one before`, () => live(chain))
}

function flowOf(parents: (place: number) => readonly number[]): CommandOf<'flow'> {
  const nodes = Array.from({ length: JOBS }, (_, place) => ({
    ref: `${place}`,
    job: JOB,
    parents: parents(place),
    onFailure: 'continue' as const,
  }))
  return { op: 'flow', nodes }
}
