/** What does a deadline cost that is set at hand-out and cleared at completion, with many others running? */
import { IndexedHeap } from '@millrace/core'
import type { Bench } from 'tinybench'

export function deadlines(bench: Bench): void {
  for (const running of [16, 500, 10_000]) {
    const heap = new IndexedHeap<{ at: number; place: number }>(
      (a, b) => a.at < b.at,
      (item, place) => {
        item.place = place
      },
    )
    let at = 0
    const items = Array.from({ length: running }, () => ({ at: at++, place: -1 }))
    for (const item of items) heap.push(item)
    let next = 0
    bench.add(`push and remove, ${running} running`, () => {
      const item = items[next++ % running] as { at: number; place: number }
      heap.removeAt(item.place)
      item.at = at++
      heap.push(item)
    })
  }
}
