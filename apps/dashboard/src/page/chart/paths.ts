/** Shapes of charts as the `d` of one path per series. Numbers are rounded to tenths of a pixel. */

export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

const px = (value: number): string => `${Math.round(value * 10) / 10}`

/** The width of a place and of its column, with a gap of one pixel, or less if they are narrow. */
export function columnWidths(places: number, width: number): { readonly step: number; readonly column: number } {
  const step = places === 0 ? 0 : width / places
  return { step, column: step >= 3 ? step - 1 : step * 0.8 }
}

/** Returns the place under a pixel, undefined outside of the box. */
export function placeAt(x: number, places: number, { left, width }: Box): number | undefined {
  if (places === 0 || x < left || x > left + width) return undefined
  return Math.min(places - 1, Math.floor(((x - left) / width) * places))
}

/** Columns that stand on those of `below`. What is there is seen: at least 1.5 pixels high. */
export function columns(values: readonly number[], below: readonly number[] | undefined, largest: number, box: Box): string {
  const { step, column } = columnWidths(values.length, box.width)
  const scale = box.height / Math.max(largest, 1)
  const parts = values.map((value, place) => {
    if (value <= 0) return ''
    const height = Math.max(1.5, value * scale)
    const bottom = box.top + box.height - standing(below?.[place], scale)
    const x = box.left + place * step
    return `M${px(x)} ${px(bottom)}v${px(-height)}h${px(column)}v${px(height)}z`
  })
  return parts.join('')
}

function standing(value: number | undefined, scale: number): number {
  return value === undefined || value <= 0 ? 0 : Math.max(1.5, value * scale)
}

/** A line through the middle of each place. */
export function line(values: readonly number[], largest: number, box: Box): string {
  const { step, column } = columnWidths(values.length, box.width)
  const scale = box.height / Math.max(largest, 1)
  const points = values.map((value, place) => `${px(box.left + place * step + column / 2)} ${px(box.top + box.height - value * scale)}`)
  return points.length === 0 ? '' : `M${points.join('L')}`
}

/** Sums of each `size` values in a row; the last group may be smaller. */
export function grouped(values: readonly number[], size: number): readonly number[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, group) => sum(values.slice(group * size, (group + 1) * size)))
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
