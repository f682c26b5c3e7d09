/** The sidebar: screens with their counts, the health of the writer, and who is logged in. On a phone it is a bar at the bottom. */
import type { Info } from '../api/answers.ts'
import { duration } from '../format/durations.ts'
import { bytes, count } from '../format/numbers.ts'
import { useFailures, useStats } from '../hooks.ts'
import { router } from '../page.ts'
import { Brand } from '../parts/Brand.tsx'
import { Icon } from '../parts/Icon.tsx'
import { find } from '../router/address.ts'
import { SCREENS, type Screen } from '../screens.ts'
import { TEXT } from '../text.ts'
import { countsOf } from './counts.ts'
import { You } from './You.tsx'

export function Side({ info }: { readonly info: Info | undefined }) {
  const { name, colour = 'grey' } = info?.instance ?? {}
  return (
    <nav class="side" aria-label={TEXT.frame.main}>
      <Brand>{name !== undefined && <span class={`env ${colour}`}>{name}</span>}</Brand>
      <Links />
      <div class="foot">
        <Writer />
        <You />
      </div>
    </nav>
  )
}

function Links() {
  const stats = useStats().value
  const failures = useFailures().value
  const counts = countsOf(stats, failures)
  const current = find(SCREENS, router.address.value.path)?.entry
  const group = (name: 'main' | 'system') =>
    SCREENS.filter(({ navigation }) => navigation?.group === name).map((screen) => (
      <Link key={screen.path} screen={screen} count={counts[screen.path]} isCurrent={isWithin(screen, current)} />
    ))
  const system = group('system')
  return (
    <>
      {group('main')}
      {system.length > 0 && <div class="head">{TEXT.frame.system}</div>}
      {system}
    </>
  )
}

/** True for the screen itself, and for those below it: /jobs is current while a job is shown. */
function isWithin({ path }: Screen, current: Screen | undefined): boolean {
  return current !== undefined && (current.path === path || (path !== '/' && current.path.startsWith(`${path}/`)))
}

interface LinkProps {
  readonly screen: Screen
  readonly count: { readonly value: number; readonly isBad?: boolean } | undefined
  readonly isCurrent: boolean
}

function Link({ screen: { path, title, navigation }, count: counted, isCurrent }: LinkProps) {
  if (navigation === undefined) return null
  return (
    <a href={router.to(path)} class={navigation.phone ? '' : 'more'} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={navigation.icon} size={15} />
      {title}
      {counted !== undefined && <span class={counted.isBad ? 'count bad' : 'count'}>{count(counted.value)}</span>}
    </a>
  )
}

function Writer() {
  const { value, error } = useStats()
  const writer = value?.writer
  const state = writer === undefined || error !== undefined ? 'unknown' : writer.draining ? 'draining' : 'healthy'
  return (
    <>
      <div class="row">
        <i class={`dot ${{ unknown: 'off', draining: 'down', healthy: 'on' }[state]}`} />
        <span>{TEXT.writer[state]}</span>
        {writer !== undefined && <span class="num end">{duration(writer.commitMsP50)}</span>}
      </div>
      {writer !== undefined && (
        <div class="row faint num">
          <span>{TEXT.writer.commit(duration(writer.commitMsP99))}</span>
          <span class="end">{TEXT.writer.wal(bytes(writer.walBytes))}</span>
        </div>
      )}
    </>
  )
}
