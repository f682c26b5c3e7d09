const WIDTH = 74
const HEIGHT = 5

/** How much of a limit is taken. A bar that is full, while jobs wait, asks for a look. */
export function Gauge({ value, limit, tight }: { readonly value: number; readonly limit: number; readonly tight: boolean }) {
  return (
    <svg class={tight ? 'gauge tight' : 'gauge'} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <rect width={WIDTH} height={HEIGHT} rx={HEIGHT / 2} />
      <rect class="taken" width={WIDTH * Math.min(1, value / Math.max(limit, 1))} height={HEIGHT} rx={HEIGHT / 2} />
    </svg>
  )
}
