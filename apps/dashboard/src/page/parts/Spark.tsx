import { columns } from '../chart/paths.ts'

const WIDTH = 116
const HEIGHT = 22

interface Props {
  readonly completed: readonly number[]
  readonly failed: readonly number[]
  readonly label: string
}

/** A small chart of completed jobs, with the failed ones on top, each queue by its own largest column. */
export function Spark({ completed, failed, label }: Props) {
  const largest = Math.max(0, ...failed.map((value, place) => value + (completed[place] ?? 0)))
  const box = { left: 0, top: 1, width: WIDTH, height: HEIGHT - 1 }
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <path class="grid" d={`M0 ${HEIGHT - 0.5}h${WIDTH}`} />
      <path class="c-ok" d={columns(completed, undefined, largest, box)} />
      <path class="c-bad" d={columns(failed, completed, largest, box)} />
    </svg>
  )
}
