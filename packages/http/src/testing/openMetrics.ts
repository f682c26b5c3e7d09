/** A strict parser of OpenMetrics 1.0 for gauges, counters, summaries and histograms. It throws if the input is invalid. */

export interface Sample {
  readonly family: string
  /** The name, including a suffix of the family: `_total`, `_bucket`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const META = /^# (TYPE|UNIT|HELP) (\S+) (.*)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** The suffixes of the names of samples, by the type of the family. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  gauge: [''],
  info: ['_info'],
  counter: ['_total'],
  summary: ['', '_count', '_sum'],
  histogram: ['_bucket', '_count', '_sum'],
}

export function parse(text: string): Sample[] {
  demand(text.endsWith('\n# EOF\n'), 'it ends with # EOF')
  const types = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let family = ''
  for (const line of text.split('\n').slice(0, -2)) {
    const meta = META.exec(line)
    if (meta !== null) {
      const [, what, name = '', rest = ''] = meta
      if (what === 'TYPE') {
        demand(NAME.test(name) && rest in SUFFIXES && !types.has(name), line)
        types.set(name, rest)
        family = name
      }
      demand(name === family, line)
      if (what === 'UNIT') demand(name.endsWith(`_${rest}`), line)
      continue
    }
    const [, name = '', inner = '', value] = SAMPLE.exec(line) ?? []
    const suffixes = SUFFIXES[types.get(family) ?? ''] ?? []
    demand(
      suffixes.some((suffix) => name === `${family}${suffix}`),
      line,
    )
    const labels = Object.fromEntries(
      [...inner.matchAll(LABEL)].map(([, key, text]) => [
        key as string,
        (text as string).replaceAll(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
      ]),
    )
    const key = `${name} ${JSON.stringify(labels)}`
    demand(!seen.has(key), `${key} is there once`)
    seen.add(key)
    samples.push({ family, name, labels, value: numberOf(value) })
  }
  for (const [name, type] of types) {
    const of = samples.filter((sample) => sample.family === name)
    if (type === 'summary') for (const { labels } of of) demand(Number(labels['quantile']) > 0, `${name} has quantiles`)
    if (type === 'histogram') checkHistograms(name, of)
  }
  return samples
}

/** Checks that bounds grow to infinity, counts never shrink, the last count is `_count`, and a `_sum` follows. */
function checkHistograms(family: string, samples: readonly Sample[]): void {
  let bounds: string | undefined
  for (let at = 0; at < samples.length; ) {
    let end = at
    while (samples[end]?.name === `${family}_bucket`) end++
    demand(end > at, `${family} has buckets`)
    const buckets = samples.slice(at, end)
    const les = buckets.map(({ labels }) => labels['le'] as string)
    bounds ??= les.join()
    demand(les.join() === bounds, `${family} has the same bounds everywhere`)
    demand(les.at(-1) === '+Inf', `${family} has a bucket of all`)
    for (const [index, { value }] of buckets.entries()) {
      const before = buckets[index - 1]
      demand(before === undefined || (value >= before.value && numberOf(les[index]) > numberOf(les[index - 1])), `${family} grows`)
      demand(Number.isSafeInteger(value) && value >= 0, `${family} counts`)
    }
    const [count, sum] = samples.slice(end)
    demand(count?.name === `${family}_count` && count.value === buckets.at(-1)?.value, `${family} has a count, of all`)
    demand(sum?.name === `${family}_sum` && sum.value >= 0, `${family} has a sum`)
    const [own, ...others] = [count, sum, ...buckets].map((sample) => {
      const { le: _le, ...labels } = sample?.labels ?? {}
      return JSON.stringify(labels)
    })
    demand(
      others.every((other) => other === own),
      `${family}: a histogram at a time`,
    )
    at = end + 2
  }
}

function numberOf(text: string | undefined): number {
  const value = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
  demand(text !== '' && !Number.isNaN(value), `${text} is a number`)
  return value
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`not OpenMetrics: ${what}`)
}
