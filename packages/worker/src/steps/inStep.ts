/** The step whose function runs, wherever it calls from. */
import { AsyncLocalStorage } from 'node:async_hooks'

interface Step {
  readonly run: object
  readonly name: string
}

const inStep = new AsyncLocalStorage<Step>()

/** Calls the function of a step. `run` stands for the run of its job. */
export function within<Value>(run: object, name: string, fn: () => Value): Value {
  return inStep.run({ run, name }, fn)
}

/** Returns the name of the step of that run that calls; undefined outside of its steps. */
export function stepOf(run: object): string | undefined {
  const step = inStep.getStore()
  return step?.run === run ? step.name : undefined
}
