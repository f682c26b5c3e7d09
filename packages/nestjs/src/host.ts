/** An engine within an application of Nest: which processors are its, and when it ends. */
import type { Engine } from '@millrace/client'
import { OptionTypeError, type StopOptions } from '@millrace/core'
import type { DiscoveryService } from '@nestjs/core'
import { assign, engineOf } from './processor.ts'

export class EngineHost {
  readonly #name: string
  readonly #engine: Engine
  readonly #discovery: DiscoveryService
  readonly #stop: StopOptions

  constructor(name: string, engine: Engine, discovery: DiscoveryService, stop: StopOptions) {
    this.#name = name
    this.#engine = engine
    this.#discovery = discovery
    this.#stop = stop
  }

  /** Runs before the processors start: global modules are initialized first. */
  onModuleInit(): void {
    const wrappers = new Set([...this.#discovery.getProviders(), ...this.#discovery.getControllers()])
    const found = new Set<object>()
    for (const wrapper of wrappers) {
      const { instance, metatype } = wrapper
      if (wrapper.isAlias) continue
      const prototype: unknown = wrapper.isNotMetatype ? instance : metatype?.prototype
      if (typeof prototype !== 'object' || prototype === null || engineOf(prototype) !== this.#name) continue
      if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
        const message = `the processor ${wrapper.name} is request-scoped or transient, and a worker has one instance: give it, and all that it injects, the default scope`
        throw new OptionTypeError('Processor', message)
      }
      found.add(instance)
    }
    for (const instance of found) assign(instance, { engine: this.#engine, stop: this.#stop })
  }

  /** Runs before the server closes, which waits for the streams of a mounted HTTP API. */
  beforeApplicationShutdown(): void {
    this.#engine.leaving.abort()
  }

  /** Runs when the server is closed, and after the hooks of all other modules: until then they can enqueue. */
  async onApplicationShutdown(): Promise<void> {
    await this.#engine.stop(this.#stop)
  }
}
