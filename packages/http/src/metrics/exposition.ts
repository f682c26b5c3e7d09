/** The text of OpenMetrics 1.0: families one after another, each with its samples. */

export type Labels = Readonly<Record<string, string>>

type Type = 'gauge' | 'counter' | 'summary' | 'info'

/** A bucket. Its count includes all values up to its bound, also those of the buckets before it. */
export type Cumulative = readonly [le: number, count: number]

interface Family {
  readonly name: string
  readonly type: Type
  /** `seconds`, `bytes`: the end of the name. */
  readonly unit?: string
  readonly help: string
}

const SUFFIXES: Readonly<Record<string, string>> = { counter: '_total', info: '_info' }

export class Exposition {
  readonly #lines: string[] = []

  /** Begins a family, and returns a function that adds samples. Counters get their `_total`, infos their `_info`. */
  family(family: Family): (value: number, labels?: Labels) => void {
    this.#begin(family, family.type)
    const sample = `${family.name}${SUFFIXES[family.type] ?? ''}`
    return (value, labels = {}) => this.#sample(sample, labels, value)
  }

  /** Begins a family of histograms, and returns a function that adds one. The last bucket's bound is infinity: it counts all. */
  histograms(family: Omit<Family, 'type'>): (buckets: readonly Cumulative[], sum: number, labels?: Labels) => void {
    const { name } = family
    this.#begin(family, 'histogram')
    return (buckets, sum, labels = {}) => {
      for (const [le, count] of buckets) this.#sample(`${name}_bucket`, { ...labels, le: numberOf(le) }, count)
      this.#sample(`${name}_count`, labels, buckets.at(-1)?.[1] ?? 0)
      this.#sample(`${name}_sum`, labels, sum)
    }
  }

  text(): string {
    return `${this.#lines.join('\n')}\n# EOF\n`
  }

  #begin({ name, unit, help }: Omit<Family, 'type'>, type: Type | 'histogram'): void {
    this.#lines.push(`# TYPE ${name} ${type}`)
    if (unit !== undefined) this.#lines.push(`# UNIT ${name} ${unit}`)
    this.#lines.push(`# HELP ${name} ${escaped(help)}`)
  }

  #sample(name: string, labels: Labels, value: number): void {
    this.#lines.push(`${name}${textOf(labels)} ${numberOf(value)}`)
  }
}

function textOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
