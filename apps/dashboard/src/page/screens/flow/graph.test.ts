import { expect, test } from 'vitest'
import type { FlowJob } from '../../api/answers.ts'
import { effectsOn, graphOf, layersOf, treeOf } from './graph.ts'

function job(id: string, dependsOn: readonly string[] = [], state: FlowJob['state'] = 'blocked'): FlowJob {
  const parents = dependsOn.map((each) => ({ id: each, ref: each }))
  return {
    ...{ id, ref: id, name: id, queue: 'q', state, attempt: 0, runAt: '2026-01-01T00:00:00.000Z', onParentFailure: 'fail' },
    ...{ parents: parents.length, dependsOn: parents },
  }
}

/** fetch leads to thumb and large, and these to publish; audit waits for fetch and publish; alone for nothing. */
const FLOW = [
  job('fetch', [], 'completed'),
  job('thumb', ['fetch'], 'failed'),
  job('large', ['fetch'], 'active'),
  job('publish', ['thumb', 'large']),
  job('audit', ['fetch', 'publish']),
  job('alone', [], 'cancelled'),
]

test('each job stands to the right of all that it waits for', () => {
  expect([...layersOf(FLOW)]).toEqual([
    ['fetch', 0],
    ['thumb', 1],
    ['large', 1],
    ['publish', 2],
    ['audit', 3],
    ['alone', 0],
  ])
})

test('a job whose parents are gone stands at the left', () => {
  expect(layersOf([job('left', ['gone'])]).get('left')).toBe(0)
})

test('nodes do not overlap, and lines lead from right edges to left edges', () => {
  const { nodes, lines, layers, width, height } = graphOf(FLOW)
  expect(layers).toBe(4)
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(FLOW.length)
  expect(nodes.every(({ x, y }) => x >= 0 && y >= 0 && x + 172 <= width && y + 34 <= height)).toBe(true)
  expect(lines).toHaveLength(6)
  const [fetch, thumb] = ['fetch', 'thumb'].map((id) => nodes.find((node) => node.job.id === id))
  expect(lines.find(({ id }) => id === 'fetch thumb')?.d).toMatch(
    new RegExp(`^M${(fetch?.x ?? 0) + 172} .* ${thumb?.x} ${(thumb?.y ?? 0) + 17}$`),
  )
})

test('jobs stand as high as those that they wait for', () => {
  const { nodes } = graphOf([job('a'), job('b'), job('of b', ['b']), job('of a', ['a'])])
  const y = (id: string) => nodes.find((node) => node.job.id === id)?.y ?? Number.NaN
  expect(y('of a')).toBeLessThan(y('of b'))
})

test('nothing is drawn of nothing', () => {
  expect(graphOf([])).toMatchObject({ nodes: [], lines: [], layers: 0 })
})

test('a sub-tree: what a retry brings back, and what a cancel ends', () => {
  expect(treeOf(FLOW, 'thumb').map(({ id }) => id)).toEqual(['thumb', 'publish', 'audit'])
  expect(effectsOn(treeOf(FLOW, 'thumb'))).toEqual({ retried: 1, cancelled: 2 })
  expect(effectsOn(treeOf(FLOW, 'alone'))).toEqual({ retried: 1, cancelled: 0 })
})
