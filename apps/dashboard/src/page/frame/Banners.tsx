import { clockTime } from '../format/times.ts'
import { live, router, settings } from '../page.ts'
import { TEXT } from '../text.ts'
import { nextOf } from './next.ts'

/** Banners say why the whole page is old: the server does not answer, or the session is over. */
export function Banners() {
  const down = live.down.value
  if (live.pace.over.value) {
    return (
      <div class="banner bad" role="alert">
        <span>{TEXT.over.title}</span>
        <a class="btn" href={router.to('/login', { next: nextOf() })}>
          {TEXT.over.action}
        </a>
      </div>
    )
  }
  if (down === undefined) return null
  return (
    <div class="banner warn" role="alert">
      <span>
        <strong>{TEXT.down.title(clockTime(down.since, settings.zone.value))}</strong> {TEXT.down.reason(down.reason)}
      </span>
      <button type="button" class="btn" onClick={() => live.refresh()}>
        {TEXT.down.retry}
      </button>
    </div>
  )
}
