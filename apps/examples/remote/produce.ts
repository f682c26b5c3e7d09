/** `produce.ts [HOW_MANY]`: creates jobs and prints their results. Whatever breaks on the way, it says it again. */
import { ConnectionLostError, connect } from '@millrace/remote'
import { square, URL } from './jobs.ts'

const count = Number(process.argv[2] ?? 10)
const run = `run ${process.pid}`
const engine = await connect(URL)

/** A call that was cut off may have happened: with a key it happens once, however often it is said. */
async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error
      console.log('the connection was lost: again')
    }
  }
}

await Promise.all(
  Array.from({ length: count }, async (_, number) => {
    const job = await untilAnswered(() => engine.enqueue(square, number, { idempotencyKey: `${run}: ${number}` }))
    console.log(`${number} squared is ${await untilAnswered(() => job.result())}`)
  }),
)
await engine.stop()
