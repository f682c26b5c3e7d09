import type { FlowJob } from '../../api/answers.ts'
import { router } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { STATES } from '../../text.ts'
import { text } from './text.ts'

const PARENTS = 3

/** A flow of many jobs as a table. */
export function JobList({ jobs, chosen }: { readonly jobs: readonly FlowJob[]; readonly chosen: string | undefined }) {
  const { columns } = text
  return (
    <section class="card">
      <header>
        <span class="muted">{text.many(jobs.length)}</span>
      </header>
      <table class="list flow-jobs">
        <thead>
          <tr>
            <th class="queue">{columns.ref}</th>
            <th>{columns.state}</th>
            <th class="opt">{columns.job}</th>
            <th class="opt">{columns.queue}</th>
            <th class="opt">{columns.waits}</th>
            <th class="r">{columns.ended}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map(({ id, ref, name, queue, state, parents, dependsOn, finishedAt }) => (
            <tr key={id} aria-selected={id === chosen}>
              <td>
                <a class="strong" href={router.to(router.address.value.path, { job: id === chosen ? undefined : id })}>
                  {ref}
                </a>
              </td>
              <td>
                <span class="inline">
                  <StateIcon state={state} />
                  {STATES[state]}
                </span>
              </td>
              <td class="opt">{name}</td>
              <td class="opt muted">{queue}</td>
              <td class="opt muted">{waitsFor(dependsOn, parents)}</td>
              <td class="r muted">{finishedAt !== undefined && <Ago at={finishedAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function waitsFor(dependsOn: FlowJob['dependsOn'], parents: number): string {
  const refs = dependsOn.slice(0, PARENTS).map(({ ref }) => ref)
  return parents > PARENTS ? `${refs.join(', ')} + ${parents - PARENTS}` : refs.join(', ')
}
