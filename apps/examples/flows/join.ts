/** A job that finds out what there is to do, and waits for it without holding its place: `node join.ts 5`. */
import { defineJob, openEngine } from '@millrace/engine'

const chapters = Number(process.argv[2] ?? 3)

const count = defineJob<{ chapter: number }, { words: number }>({ name: 'count' })
const book = defineJob<{ chapters: number }, string>({ name: 'book' })

await using engine = await openEngine({ file: ':memory:' })
engine.work(
  [
    count.handler(({ data }) => ({ words: data.chapter * 1_000 })),
    book.handler(async ({ data, join, job }) => {
      console.log(`run ${job.run}, attempt ${job.attempt}`)
      // Called in the first run alone.
      const counted = await join('chapters', () => Array.from({ length: data.chapters }, (_, index) => count.job({ chapter: index + 1 })))
      let words = 0
      for await (const { output } of counted) words += output?.words ?? 0
      return `${words} words`
    }),
  ],
  // One place is enough: the book does not hold it while its chapters are counted.
  { concurrency: 1 },
)

const handle = await engine.enqueue(book, { chapters })
console.log(await handle.result({ timeout: '30s' }))
