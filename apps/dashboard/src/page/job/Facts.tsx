import { exactTime } from '../format/times.ts'
import { router, settings } from '../page.ts'
import { Ago } from '../parts/Ago.tsx'
import { type Fact, tagLink } from './facts.ts'

/** The properties of a job. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="kv">
      {facts.map((fact) => (
        <div key={fact.name}>
          <dt>{fact.name}</dt>
          <dd title={fact.text}>
            <Value fact={fact} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ fact: { text, note, at, to, tags, isMono } }: { readonly fact: Fact }) {
  const style = isMono ? 'mono' : ''
  if (tags !== undefined) {
    return (
      <span class="tags">
        {tags.map((tag) => (
          <a key={tag} class="tag" href={router.to(tagLink(tag))}>
            {tag}
          </a>
        ))}
      </span>
    )
  }
  if (at !== undefined) {
    return (
      <>
        {exactTime(Date.parse(at), settings.zone.value).replace(/^(\d+ \w+) \d+/, '$1')}{' '}
        <span class="faint">
          <Ago at={at} />
        </span>
      </>
    )
  }
  return (
    <>
      {to === undefined ? (
        <bdi class={style}>{text}</bdi>
      ) : (
        <a class={`${style} link`} href={router.to(to)}>
          <bdi>{text}</bdi>
        </a>
      )}
      {note !== undefined && <span class="faint"> {note}</span>}
    </>
  )
}
