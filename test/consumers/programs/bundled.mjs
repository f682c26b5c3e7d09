// To be bundled: says what came of opening an engine, and ends by itself.
import { defineJob, openEngine } from '@millrace/engine'

const double = defineJob({ name: 'double' })

async function main() {
  try {
    const engine = await openEngine({ file: 'bundled.db' })
    engine.work(double.handler(({ data }) => data * 2))
    const handle = await engine.enqueue(double, 21)
    const output = await handle.result()
    const { jobs } = await engine.list({ limit: 1 })
    process.stdout.write(JSON.stringify({ output, listed: jobs.length === 1 }))
    await engine.stop()
  } catch ({ name, code, message }) {
    process.stdout.write(JSON.stringify({ name, code, message }))
  }
}

main()
