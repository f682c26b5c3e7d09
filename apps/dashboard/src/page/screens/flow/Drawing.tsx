import { cut } from '../../format/cut.ts'
import { router } from '../../page.ts'
import { STATES } from '../../text.ts'
import { type Graph, NODE, type Node } from './graph.ts'
import { text } from './text.ts'

const ICON = 14
const REF_LENGTH = 19

/** The jobs as boxes with their states, and a line from each to those that wait for it. */
export function Drawing({
  graph: { nodes, lines, layers, width, height },
  chosen,
}: {
  readonly graph: Graph
  readonly chosen: string | undefined
}) {
  return (
    <section class="card flow" aria-label={text.graph(nodes.length, layers)}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the section around it has the name */}
      <svg width={width} height={height} class="chart">
        {lines.map(({ id, d, told }) => (
          <path key={id} class={told === undefined ? 'line' : `line told-${told}`} d={d} />
        ))}
        {nodes.map((node) => (
          <Box key={node.job.id} node={node} isChosen={node.job.id === chosen} />
        ))}
      </svg>
    </section>
  )
}

function Box({ node: { job, x, y }, isChosen }: { readonly node: Node; readonly isChosen: boolean }) {
  const { id, ref, name, state } = job
  const choose = (event: MouseEvent) => {
    // A link of a drawing is none that the router follows. With a key, it opens in a tab of its own.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    router.amend({ job: isChosen ? undefined : id })
  }
  return (
    <a
      href={router.to(router.address.value.path, { job: isChosen ? undefined : id })}
      class={isChosen ? `box s-${state} chosen` : `box s-${state}`}
      aria-label={text.job(ref, name, STATES[state])}
      onClick={choose}
    >
      <title>{text.job(ref, name, STATES[state])}</title>
      <rect x={x} y={y} width={NODE.width} height={NODE.height} rx="6" />
      <svg aria-hidden="true" class="icon" x={x + 9} y={y + (NODE.height - ICON) / 2} width={ICON} height={ICON}>
        <use href={`#i-s-${state}`} />
      </svg>
      <text x={x + 30} y={y + NODE.height / 2} dominant-baseline="central">
        {cut(ref, REF_LENGTH)}
      </text>
    </a>
  )
}
