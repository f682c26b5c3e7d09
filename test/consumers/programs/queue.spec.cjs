// Within jest, as CommonJS.
const { defineJob, openEngine } = require('@millrace/engine')

test('a job is done', async () => {
  const double = defineJob({ name: 'double' })
  const engine = await openEngine({ file: ':memory:' })
  engine.work(double.handler(async ({ data }) => data * 2))
  const handle = await engine.enqueue(double, 21)
  expect(await handle.result()).toBe(42)
  await engine.stop()
})
