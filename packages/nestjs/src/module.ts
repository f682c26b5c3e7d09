/** The module that opens an engine with an application of Nest, and stops it with that. */
import { Engine } from '@millrace/client'
import { type Duration, type OpenOptions, type OpenPostgresOptions, OptionTypeError, validateStopOptions } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { type DynamicModule, type InjectionToken, Module, type ModuleMetadata, type OptionalFactoryDependency } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService } from '@nestjs/core'
import { EngineHost } from './host.ts'
import { DEFAULT_NAME, getEngineToken } from './tokens.ts'

/** The options of `forRoot` and `forRootAsync` that are about the application. */
export interface MillraceApplicationOptions {
  /** The name of the engine, if there are several: 1 to 128 of `A-Z a-z 0-9 _ . : / -`. Default: it has no name. */
  readonly name?: string
  /** How long running jobs may take to finish at a shutdown: 0 to 100 years, or Infinity; default 30 s. */
  readonly shutdownTimeout?: Duration
}

/** The options of `forRoot`: those of `openEngine`, and those about the application. */
export type MillraceModuleOptions = (OpenOptions | OpenPostgresOptions) & MillraceApplicationOptions

/** The options of `forRootAsync`. */
export interface MillraceAsyncOptions extends MillraceApplicationOptions, Pick<ModuleMetadata, 'imports'> {
  /** The tokens of the arguments of `useFactory`. Default none. */
  readonly inject?: readonly (InjectionToken | OptionalFactoryDependency)[]
  /** Returns the options of `openEngine`, or an engine of `connect` or of a test. The module stops that one too. */
  readonly useFactory: (...args: never[]) => Opened | Promise<Opened>
}

type Opened = OpenOptions | OpenPostgresOptions | Engine

/** Opens an engine with the application, makes it injectable everywhere, and stops it with the application. */
export class MillraceModule {
  /**
   * Opens the engine with these options of `openEngine`.
   *
   * @example
   * ```ts
   * @Module({ imports: [MillraceModule.forRoot({ file: 'jobs.db' })], providers: [Mails] })
   * export class AppModule {}
   * ```
   * @throws OptionTypeError, OptionRangeError for a wrong `name` or `shutdownTimeout`. What `openEngine` throws is thrown by
   * `NestFactory.create`.
   */
  static forRoot(options: MillraceModuleOptions): DynamicModule {
    const { name, shutdownTimeout, ...opening } = options
    return moduleOf({
      ...(name !== undefined && { name }),
      ...(shutdownTimeout !== undefined && { shutdownTimeout }),
      useFactory: () => opening,
    })
  }

  /**
   * Opens the engine with options from a factory, whose arguments Nest injects.
   *
   * @throws OptionTypeError, OptionRangeError as `forRoot`
   */
  static forRootAsync(options: MillraceAsyncOptions): DynamicModule {
    return moduleOf(options)
  }
}

Module({})(MillraceModule)

function moduleOf({ name = DEFAULT_NAME, shutdownTimeout, imports = [], inject = [], useFactory }: MillraceAsyncOptions): DynamicModule {
  const token = getEngineToken(name)
  const stop = shutdownTimeout === undefined ? {} : { timeout: shutdownTimeout }
  validateStopOptions(stop)
  if (typeof useFactory !== 'function')
    throw new OptionTypeError(
      'useFactory',
      `useFactory must be a function that returns the options of openEngine, got ${typeof useFactory}`,
    )
  return {
    module: MillraceModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      { provide: token, inject: [...inject], useFactory: async (...args: never[]) => opened(await useFactory(...args)) },
      {
        provide: `millrace:host:${name}`,
        inject: [token, DiscoveryService],
        useFactory: (engine: Engine, discovery: DiscoveryService) => new EngineHost(name, engine, discovery, stop),
      },
    ],
    exports: [token],
  }
}

function opened(given: Opened): Engine | Promise<Engine> {
  return given instanceof Engine ? given : openEngine(given as OpenOptions)
}
