// As plain CommonJS.
const { defineJob, openEngine } = require('@millrace/engine')

const double = defineJob({ name: 'double' })

async function main() {
  const engine = await openEngine({ file: 'common.db' })
  engine.work(double.handler(({ data }) => data * 2))
  const handle = await engine.enqueue(double, 21)
  process.stdout.write(`${await handle.result()}\n`)
  await engine.stop()
}

main()
