/** The installation, its storage, its tokens and its audit. The last two need the scope admin. */

import { Page } from '../../frame/Page.tsx'
import { useAnswer, useStats } from '../../hooks.ts'
import { apiUrl, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Fact } from '../../parts/Fact.tsx'
import { TEXT } from '../../text.ts'
import { Audit } from './Audit.tsx'
import { storageFacts } from './storage.ts'
import { Tokens } from './Tokens.tsx'
import { SETTINGS_TEXT as text } from './text.ts'

/** Beats between two questions for what changes only with a restart. */
const RARELY = 150

export function Settings() {
  const info = useAnswer('/v1/info', {}, RARELY).value
  const isKept = info?.on.tokenStore === true
  const isAdmin = sessions.can('admin')
  return (
    <Page name="settings" title={TEXT.screens.settings}>
      <div class="cols half">
        <About />
        <Storage />
      </div>
      {info !== undefined && (isKept && isAdmin ? <Tokens /> : <p class="muted">{isKept ? text.notYours : text.notHere}</p>)}
      {isKept && isAdmin && <Audit />}
    </Page>
  )
}

function About() {
  const info = useAnswer('/v1/info', {}, RARELY).value
  const parts = info === undefined ? [] : (['webhooks', 'control', 'tokens'] as const).filter((part) => info.on[part])
  return (
    <section class="card" aria-label={text.about}>
      <header>
        <h2>{text.about}</h2>
      </header>
      {info !== undefined && (
        <dl class="kv">
          <dt>{text.name}</dt>
          <dd>{info.instance.name ?? text.none}</dd>
          <dt>{text.version}</dt>
          <dd>{info.version ?? text.none}</dd>
          <dt>{text.node}</dt>
          <dd>{info.node}</dd>
          <dt>{text.started}</dt>
          <dd>
            <Ago at={info.startedAt} />
          </dd>
          <dt>{text.parts}</dt>
          <dd>{parts.map((part) => text.on[part]).join(', ') || text.none}</dd>
          <dt>{text.more}</dt>
          <dd class="inline">
            <a href={`${apiUrl}/docs`}>{text.links.docs}</a>
            <a href={`${apiUrl}/openapi.json`}>{text.links.openapi}</a>
            <a href={`${apiUrl}/metrics`}>{text.links.metrics}</a>
          </dd>
        </dl>
      )}
    </section>
  )
}

function Storage() {
  const stats = useStats().value
  return (
    <section class="card" aria-label={text.storage}>
      <header>
        <h2>{text.storage}</h2>
      </header>
      {stats !== undefined && (
        <dl class="kv">
          {storageFacts(stats).map(({ name, value, at }) => (
            <Fact key={name} name={name}>
              {value} {at !== undefined && <Ago at={at} />}
            </Fact>
          ))}
        </dl>
      )}
      <p class="note">{text.retention}</p>
    </section>
  )
}
