/** A site of two pages: `node build.ts`, or `node build.ts broken` for one that fails at first. */
import { defineJob, openEngine } from '@millrace/engine'

let broken = process.argv[2] === 'broken'

const template = defineJob<undefined, string>({ name: 'template' })
const page = defineJob<{ title: string }, string>({ name: 'page', maxAttempts: 1 })
const publish = defineJob({ name: 'publish' })
const report = defineJob({ name: 'report' })

await using engine = await openEngine({ file: ':memory:' })
engine.work([
  template.handler(() => '<h1>*</h1>'),
  page.handler(async ({ data: { title }, parent }) => {
    if (broken && title === 'news') throw new Error('no news today')
    return (await parent<typeof template>('template'))?.output?.replace('*', title) ?? title
  }),
  publish.handler(async ({ parents }) => {
    const pages: string[] = []
    for await (const { output } of parents<typeof page>()) pages.push(output ?? '')
    return pages.join('')
  }),
  report.handler(async ({ parents }) => {
    const lines: string[] = []
    for await (const { ref, state, error } of parents()) lines.push(`${ref} ${state}${error === undefined ? '' : ` (${error.message})`}`)
    return lines.join(', ')
  }),
])

const { jobs } = await engine.flow([
  { ref: 'template', job: template },
  { ref: 'home', job: page, data: { title: 'home' }, dependsOn: ['template'] },
  { ref: 'news', job: page, data: { title: 'news' }, dependsOn: ['template'] },
  { ref: 'site', job: publish, dependsOn: ['home', 'news'] },
  { ref: 'report', job: report, dependsOn: ['home', 'news'], onParentFailure: 'continue' },
])

console.log(`report: ${await jobs.report.result()}`)
if (broken) {
  await jobs.site.result().catch((error: Error) => console.log(`site: ${(error.cause as Error).name}`))
  broken = false
  await engine.retry(jobs.news.id)
}
console.log(`site: ${await jobs.site.result()}`)
