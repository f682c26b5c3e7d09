/** The names under which Nest keeps engines. */
import { Engine } from '@millrace/client'
import { nameOption } from '@millrace/core'
import { Inject } from '@nestjs/common'

/** The name of the engine of a `forRoot` without `name`. */
export const DEFAULT_NAME = 'default'

/**
 * Returns the token of an engine, for `inject` of a factory and for `app.get`. Without a name, it is the class `Engine` itself.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong name
 */
export function getEngineToken(name = DEFAULT_NAME): string | typeof Engine {
  return nameOption('name', name) === DEFAULT_NAME ? Engine : `millrace:${name}`
}

/**
 * Injects an engine into a parameter of a constructor, or into a property. Without a name, it is the one of the `forRoot` without
 * `name`: a parameter of the type `Engine` needs no decorator then.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong name
 */
export function InjectEngine(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getEngineToken(name))
}
