/** The text of OpenMetrics 1.0: families one after another, each with its samples. */

export type Labels = Readonly<Record<string, string>>

type Type = 'gauge' | 'counter' | 'summary'

interface Family {
  readonly name: string
  readonly type: Type
  /** `seconds`, `bytes`: what the name ends in. */
  readonly unit?: string
  readonly help: string
}

export class Exposition {
  readonly #lines: string[] = []

  /** A family, and what adds samples to it. Counters get their `_total`. */
  family({ name, type, unit, help }: Family): (value: number, labels?: Labels) => void {
    this.#lines.push(`# TYPE ${name} ${type}`)
    if (unit !== undefined) this.#lines.push(`# UNIT ${name} ${unit}`)
    this.#lines.push(`# HELP ${name} ${escaped(help)}`)
    const sample = type === 'counter' ? `${name}_total` : name
    return (value, labels = {}) => {
      this.#lines.push(`${sample}${textOf(labels)} ${numberOf(value)}`)
    }
  }

  text(): string {
    return `${this.#lines.join('\n')}\n# EOF\n`
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
