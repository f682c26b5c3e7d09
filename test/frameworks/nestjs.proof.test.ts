// @millrace/nestjs in applications of NestJS: the example as its reader runs it, and modules of every kind.
import 'reflect-metadata'
import { defineJob, Engine, openEngine } from '@millrace/engine'
import {
  engineHealth,
  getEngineToken,
  Handles,
  InjectEngine,
  MillraceModule,
  type MillraceModuleOptions,
  Processor,
} from '@millrace/nestjs'
import { createTestEngine } from '@millrace/testkit'
import { type DynamicModule, Injectable, Module, Scope } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { checkTypes, compiled } from './compiled.ts'
import { tryNestExample } from './nestExample.ts'

type Class = new (...args: never[]) => object

/** Applies decorators as the compiler does: vitest strips types, and knows no decorators of this kind. */
function decorated<Made extends Class>(
  made: Made,
  methods: Readonly<Record<string, unknown>>,
  ...classes: readonly ClassDecorator[]
): Made {
  for (const [name, decorate] of Object.entries(methods)) {
    const descriptor = Object.getOwnPropertyDescriptor(made.prototype, name)
    ;(decorate as (prototype: object, name: string, descriptor: unknown) => void)(made.prototype, name, descriptor)
  }
  for (const decorate of classes) decorate(made)
  return made
}

async function start(imports: readonly DynamicModule[], ...providers: readonly unknown[]) {
  class App {}
  Module({ imports: [...imports], providers: providers as Class[] })(App)
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
  onTestFinished(() => app.close())
  return app
}

const file = () => `${temporaryFolder()}/jobs.db`
const double = defineJob<number, number>({ name: 'double' })

function doubler(...classes: readonly ClassDecorator[]) {
  class Doubler {
    run({ data }: { readonly data: number }) {
      return 2 * data
    }
  }
  return decorated(Doubler, { run: Handles(double) }, ...classes)
}

test('the example: a route enqueues, the processor runs, terminus asks, and SIGTERM stops all of it', () =>
  tryNestExample(new URL('main.js', compiled('nestjs'))))

test('a handler takes the data of its definition, or the compiler says so', () => {
  checkTypes(`
import { type BatchItem, type Context, defineJob } from '@millrace/engine'
import { Handles, Processor } from '@millrace/nestjs'

const sendMail = defineJob<{ to: string; cc?: string }, string>({ name: 'send-mail' })

@Processor({ concurrency: 2 })
export class Right {
  @Handles(sendMail)
  all({ data }: Context<{ to: string; cc?: string }>) {
    return data.to
  }
  @Handles(sendMail)
  async some({ data }: { data: { to: string } }) {
    return data.to
  }
  @Handles(sendMail)
  none() {
    return ''
  }
  @Handles(sendMail, { batch: { size: 2 } })
  many(items: readonly BatchItem<{ to: string }>[]) {
    return items.map(({ data }) => ({ output: data.to }))
  }
}

export class Wrong {
  // @ts-expect-error other data
  @Handles(sendMail)
  other({ data }: Context<{ to: number }>) {
    return String(data.to)
  }
  // @ts-expect-error more than the job has
  @Handles(sendMail)
  more({ data }: Context<{ to: string; bcc: string }>) {
    return data.bcc
  }
  // @ts-expect-error another output
  @Handles(sendMail)
  output() {
    return 1
  }
  // @ts-expect-error one job, and not many
  @Handles(sendMail, { batch: { size: 2 } })
  one({ data }: Context<{ to: string }>) {
    return data.to
  }
}
// @ts-expect-error there is no such option
Processor({ concurency: 1 })
`)
})

test('at a close, running jobs finish while what they use is there; jobs enqueued meanwhile wait for the next start', async () => {
  const said: string[] = []
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const path = file()
  class Database {
    open = true
    onModuleDestroy() {
      this.open = false
      said.push('database closed')
    }
  }
  class Data {}
  Module({ providers: [Database], exports: [Database] })(Data)
  class Doubler {
    readonly database: Database
    readonly engine: Engine
    constructor(database: Database, engine: Engine) {
      this.database = database
      this.engine = engine
    }
    async run({ data }: { readonly data: number }) {
      begun.resolve()
      await go.promise
      said.push(`ran, the database is ${this.database.open ? 'open' : 'closed'}`)
      return 2 * data
    }
    onModuleDestroy() {
      said.push('processor destroyed')
    }
    async onApplicationShutdown() {
      await this.engine.enqueue(double, 4)
      said.push('enqueued at the shutdown')
    }
  }
  Reflect.defineMetadata('design:paramtypes', [Database, Engine], Doubler)
  decorated(Doubler, { run: Handles(double) }, Processor())
  const data = Data as unknown as DynamicModule
  const app = await start([MillraceModule.forRoot({ file: path }), data], Doubler)
  const engine = app.get(Engine)
  const handle = await engine.enqueue(double, 21)
  await begun.promise
  const closed = app.close()
  go.resolve()
  await closed
  expect(said).toEqual(['ran, the database is open', 'processor destroyed', 'database closed', 'enqueued at the shutdown'])
  await expect(engine.stats()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })

  await using next = await openEngine({ file: path })
  expect(await next.get(handle.id)).toMatchObject({ state: 'completed', output: 42, attempt: 1 })
  expect(await next.stats()).toMatchObject({ states: { waiting: 1 } })
})

test('several engines have names: each processor has its own, and so has each injection', async () => {
  class Sender {
    readonly first: Engine
    readonly second: Engine
    constructor(first: Engine, second: Engine) {
      this.first = first
      this.second = second
    }
  }
  Reflect.defineMetadata('design:paramtypes', [Engine, Engine], Sender)
  InjectEngine('audit')(Sender, undefined as never, 1)
  Injectable()(Sender)
  const first = createTestEngine()
  const second = createTestEngine({ mode: 'inline' })
  const app = await start(
    [
      MillraceModule.forRootAsync({ useFactory: () => first.engine }),
      MillraceModule.forRootAsync({ name: 'audit', useFactory: async () => second.engine }),
    ],
    doubler(Processor({ engine: 'audit', id: 'of-audit' })),
    Sender,
  )
  const sender = app.get(Sender)
  expect([sender.first, sender.second]).toEqual([first.engine, second.engine])
  expect(app.get(getEngineToken('audit'))).toBe(second.engine)
  await sender.first.enqueue(double, 1)
  await sender.second.enqueue(double, 2)
  await first.expectEnqueued(double, { data: 1, state: 'waiting' }, { count: 1 })
  await second.expectEnqueued(double, { data: 2, state: 'completed' }, { count: 1 })
})

test('options from a factory, whose arguments are injected', async () => {
  const path = file()
  const app = await start([
    MillraceModule.forRootAsync({
      imports: [{ module: class Config {}, providers: [{ provide: 'PATH', useValue: path }], exports: ['PATH'] }],
      inject: ['PATH'],
      useFactory: (given: string) => ({ file: given }),
    }),
  ])
  expect((await app.get(Engine).stats()).store?.file).toBe('jobs.db')
})

test('a batch, a class that extends another, and hooks of its own', async () => {
  const said: string[] = []
  const upper = defineJob<string, string>({ name: 'upper' })
  class Base {
    run({ data }: { readonly data: number }) {
      return 3 * data
    }
    onApplicationBootstrap() {
      said.push('own hook')
    }
  }
  decorated(Base, { run: Handles(double) })
  class Both extends Base {
    override run({ data }: { readonly data: number }) {
      return 2 * data
    }
    many(items: readonly { readonly data: string }[]) {
      return items.map(({ data }) => ({ output: data.toUpperCase() }))
    }
  }
  decorated(Both, { many: Handles(upper, { batch: { size: 2 } }) }, Processor({ concurrency: 2 }))
  const app = await start([MillraceModule.forRoot({ file: file() })], Both)
  const engine = app.get(Engine)
  const many = await engine.enqueueMany([upper.job('a'), upper.job('b')])
  expect(await Promise.all(many.map((one) => one.result()))).toEqual(['A', 'B'])
  expect(await (await engine.enqueue(double, 21)).result()).toBe(42)
  expect({ said, workers: (await engine.workers()).length }).toEqual({ said: ['own hook'], workers: 1 })
})

test('a class that extends a processor has its options, or those of its own', async () => {
  const Base = doubler(Processor({ id: 'base' }))
  class Derived extends Base {}
  class Renamed extends Base {}
  decorated(Renamed, {}, Processor({ id: 'renamed' }))
  const app = await start([MillraceModule.forRoot({ file: file() })], Derived, Renamed)
  expect((await app.get(Engine).workers()).map(({ id }) => id).toSorted()).toEqual(['base', 'renamed'])
})

test('processors that a factory or a value provides, and a second name for one', async () => {
  const Made = doubler(Processor({ id: 'made' }))
  const app = await start(
    [MillraceModule.forRoot({ file: file() })],
    { provide: 'MADE', useFactory: () => new Made() },
    { provide: 'ALIAS', useExisting: 'MADE' },
  )
  expect((await app.get(Engine).workers()).map(({ id }) => id)).toEqual(['made'])
})

test('health: up while it serves, down with the reason when it does not', async () => {
  const app = await start([MillraceModule.forRoot({ file: file() })])
  const engine = app.get(Engine)
  expect(await engineHealth(engine)).toEqual({ millrace: { status: 'up' } })
  await app.close()
  expect(await engineHealth(engine, 'jobs')).toEqual({ jobs: { status: 'down', message: 'the engine does not serve' } })
})

test('what is wrong is said, with what to do', async () => {
  const wrong = (message: RegExp) => ({ name: 'OptionTypeError', message: expect.stringMatching(message) })
  const thrownBy = (call: () => unknown) => {
    try {
      return call()
    } catch (error) {
      return error
    }
  }
  const root = () => MillraceModule.forRoot({ file: file() })
  expect(thrownBy(() => decorated(class Idle {}, {}, Processor()))).toMatchObject(wrong(/class Idle has no handler: put @Handles/))
  expect(thrownBy(() => Processor({ concurrency: 0 }))).toMatchObject({ name: 'OptionRangeError', message: expect.stringContaining('1') })
  expect(thrownBy(() => Handles(undefined as never))).toMatchObject(wrong(/takes the definition of a job/))
  expect(thrownBy(() => Handles(double, { batch: { size: 0 } }))).toMatchObject({ name: 'OptionRangeError' })
  expect(thrownBy(() => (Handles(double) as unknown as (...args: unknown[]) => void)(() => {}, { kind: 'method' }))).toMatchObject(
    wrong(/"experimentalDecorators": true/),
  )
  expect(thrownBy(() => MillraceModule.forRoot({ file: 'a', name: 'no spaces' }))).toMatchObject({
    code: expect.stringContaining('OPTION'),
  })
  expect(thrownBy(() => MillraceModule.forRoot({ file: 'a', shutdownTimeout: 'soon' as never }))).toMatchObject({
    code: expect.stringContaining('OPTION'),
  })
  expect(thrownBy(() => MillraceModule.forRootAsync({} as never))).toMatchObject(wrong(/useFactory must be a function/))

  await expect(start([root()], doubler())).rejects.toMatchObject(wrong(/Doubler has handlers, and no worker: put @Processor\(\)/))
  await expect(start([], doubler(Processor()))).rejects.toMatchObject(wrong(/no engine: import MillraceModule\.forRoot\(\{ file \}\)/))
  await expect(start([root()], doubler(Processor({ engine: 'audit' })))).rejects.toMatchObject(
    wrong(/forRoot\(\{ name: 'audit', file \}\)/),
  )
  await expect(start([root(), root()], doubler(Processor()))).rejects.toMatchObject(wrong(/two engines have the name 'default'/))
  await expect(start([root()], { provide: 'P', useClass: doubler(Processor()), scope: Scope.REQUEST })).rejects.toMatchObject(
    wrong(/request-scoped or transient/),
  )
  const options = { file: file(), durabilty: 'full' } as unknown as MillraceModuleOptions
  await expect(start([MillraceModule.forRoot(options)])).rejects.toMatchObject(wrong(/did you mean 'durability'/))
})
