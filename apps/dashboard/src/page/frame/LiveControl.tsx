import { RATES_MS, type RateMs } from '../live/pace.ts'
import { live } from '../page.ts'
import { Icon } from '../parts/Icon.tsx'
import { Menu } from '../parts/Menu.tsx'
import { Segments } from '../parts/Segments.tsx'
import { TEXT } from '../text.ts'
import { toggleLive } from './toggleLive.ts'

const nameOf = (rate: RateMs) => (rate === 0 ? TEXT.live.off : TEXT.live.every(rate / 1_000))

/** Shows whether the page follows the queue, and how often it asks. */
export function LiveControl() {
  const { paused, rateMs } = live.pace
  const isLive = rateMs.value > 0 && !paused.value
  const state = live.down.value !== undefined ? 'down' : isLive ? 'on' : 'off'
  const said = { on: TEXT.live.live, off: TEXT.live.paused, down: TEXT.live.down }[state]
  return (
    <span class="live">
      <Menu
        label={`${said}: ${TEXT.live.rate}`}
        class="rate"
        button={
          <>
            <i class={`dot ${state}`} />
            <span class="wide">{said}</span>
          </>
        }
      >
        <div class="field-row">
          <span>{TEXT.live.rate}</span>
          <Segments
            label={TEXT.live.rate}
            options={RATES_MS.map((rate) => [`${rate}`, nameOf(rate)] as const)}
            value={`${rateMs.value}`}
            onChange={(rate) => (rateMs.value = Number(rate) as RateMs)}
          />
        </div>
      </Menu>
      <button type="button" class="btn ghost" aria-label={isLive ? TEXT.live.pause : TEXT.live.resume} onClick={toggleLive}>
        <Icon name={isLive ? 'pause' : 'play'} size={13} />
      </button>
    </span>
  )
}
