import { UnsupportedRuntimeError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { assertDriver, assertRuntime } from './runtime.ts'

test('the Node that runs this is one of those that will do', () => {
  expect(() => assertRuntime()).not.toThrow()
})

test.for(['22.14.0', '22.22.1', '23.0.0', '24.21.0', '100.0.0'])('Node %s will do', (node) => {
  expect(() => assertRuntime({ node })).not.toThrow()
})

describe('refused with a typed error that names the runtime and what to use instead', () => {
  test.for([
    ['Bun 1.3.0', { bun: '1.3.0', node: '24.3.0' }],
    ['Deno 2.5.0', { deno: '2.5.0', node: '24.2.0' }],
    ['Node 22.13.1', { node: '22.13.1' }],
    ['Node 22.9.0', { node: '22.9.0' }],
    ['Node 21.14.0', { node: '21.14.0' }],
    ['Node 20.20.2', { node: '20.20.2' }],
  ] as const)('%s', ([name, versions]) => {
    const refusal = captured(() => assertRuntime(versions))
    expect(refusal).toBeInstanceOf(UnsupportedRuntimeError)
    expect(refusal).toMatchObject({ code: 'UNSUPPORTED_RUNTIME', retryable: false })
    expect(refusal).toHaveProperty('message', expect.stringContaining(`does not run on ${name}`))
    expect(refusal).toHaveProperty('message', expect.stringContaining('run it on Node 22.14 or newer'))
  })
})

test('without code from strings, the flag is named', () => {
  expect(() => assertDriver()).not.toThrow()
  const cause = new EvalError('Code generation from strings disallowed for this context')
  const refusal = captured(() =>
    assertDriver(() => {
      throw cause
    }),
  )
  expect(refusal).toMatchObject({ code: 'UNSUPPORTED_RUNTIME', cause })
  expect(refusal).toHaveProperty('message', expect.stringContaining('--disallow-code-generation-from-strings'))
})

function captured(call: () => void): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
