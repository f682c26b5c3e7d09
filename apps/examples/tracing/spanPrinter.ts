/** An exporter in the place of one that sends: keeps what has ended, and prints it as the tree that it is. */
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'

export class SpanPrinter implements SpanExporter {
  readonly #spans: ReadableSpan[] = []

  export(spans: readonly ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#spans.push(...spans)
    done({ code: ExportResultCode.SUCCESS })
  }

  async shutdown(): Promise<void> {}

  /** Those without a parent first, below each its children, in the order in which they ended. */
  print(parent?: ReadableSpan, indent = ''): void {
    for (const span of this.#spans) {
      if (span.parentSpanContext?.spanId !== parent?.spanContext().spanId) continue
      console.log(`${indent}${span.name} (${SpanKind[span.kind].toLowerCase()})${toldOf(span)}`)
      this.print(span, `${indent}  `)
    }
  }
}

function toldOf({ attributes, status, events }: ReadableSpan): string {
  const attempt = attributes['millrace.job.attempt']
  const failed = status.code === SpanStatusCode.ERROR ? `: ${events[0]?.attributes?.['exception.message']}` : ''
  return `${attempt === undefined ? '' : `, attempt ${attempt}`}${failed}`
}
