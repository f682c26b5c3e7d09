/** Chooses which traces are sent, by the variables of OpenTelemetry. Its SDK leaves them to the program that sets it up. */
import type { Sampler } from '@opentelemetry/sdk-trace'
import type { Environment } from '../config/environment.ts'
import { ConfigError } from '../config/errors.ts'

type Sdk = typeof import('@opentelemetry/sdk-trace')

const NAMES = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Returns the sampler. The default samples traces that begin here, and follows the decision of the others' origin. @throws ConfigError */
export function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: Environment, sdk: Sdk): Sampler {
  const name = OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const known = NAMES.find((each) => each === name)
  if (known === undefined) throw new ConfigError([`'OTEL_TRACES_SAMPLER' must be one of ${NAMES.join(', ')}, got ${JSON.stringify(name)}`])
  const [, parentBased, kind] = /^(parentbased_)?(.*)$/.exec(known) as RegExpExecArray
  const root =
    kind === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : kind === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratioOf(OTEL_TRACES_SAMPLER_ARG))
  return parentBased === undefined ? root : new sdk.ParentBasedSampler({ root })
}

function ratioOf(text = ''): number {
  const ratio = text === '' ? 1 : Number(text)
  if (ratio >= 0 && ratio <= 1) return ratio
  throw new ConfigError([`'OTEL_TRACES_SAMPLER_ARG' must be between 0 and 1, got ${JSON.stringify(text)}`])
}
