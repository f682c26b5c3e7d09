import type { FlowJob } from '../../api/answers.ts'
import { router } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { STATES } from '../../text.ts'
import { text } from './text.ts'

const PARENTS = 3
const { columns } = text

const COLUMNS: readonly Column<FlowJob>[] = [
  {
    ...{ head: columns.ref, style: 'queue' },
    cell: ({ id, ref }, isShown) => (
      <a class="strong" href={router.to(router.address.value.path, { job: isShown ? undefined : id })}>
        {ref}
      </a>
    ),
  },
  {
    head: columns.state,
    cell: ({ state }) => (
      <span class="inline">
        <StateIcon state={state} />
        {STATES[state]}
      </span>
    ),
  },
  { head: columns.job, style: 'opt', cell: ({ name }) => name },
  { head: columns.queue, style: 'opt muted', cell: ({ queue }) => queue },
  { head: columns.waits, style: 'opt muted', cell: waitsFor },
  { head: columns.ended, style: 'r muted', cell: ({ finishedAt }) => finishedAt !== undefined && <Ago at={finishedAt} /> },
]

/** A flow of many jobs as a table. */
export function JobList({ jobs, chosen }: { readonly jobs: readonly FlowJob[]; readonly chosen: string | undefined }) {
  return (
    <section class="card">
      <header>
        <span class="muted">{text.many(jobs.length)}</span>
      </header>
      <Table name="flow-jobs" rows={jobs} columns={COLUMNS} keyOf={({ id }) => id} shown={chosen} />
    </section>
  )
}

function waitsFor({ dependsOn, parents }: FlowJob): string {
  const refs = dependsOn.slice(0, PARENTS).map(({ ref }) => ref)
  return parents > PARENTS ? `${refs.join(', ')} + ${parents - PARENTS}` : refs.join(', ')
}
