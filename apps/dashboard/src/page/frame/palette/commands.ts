/** Commands of the palette: those of the frame, which on a phone are nowhere else. */
import { live, router, sessions, settings } from '../../page.ts'
import { THEMES, ZONES } from '../../settings.ts'
import { TEXT } from '../../text.ts'
import { logOut } from '../logOut.ts'
import { overlay } from '../overlay.ts'
import { toggleLive } from '../toggleLive.ts'
import type { Known } from './entries.ts'

export function commands(): Known['commands'] {
  const themes = THEMES.map((theme) => ({ label: TEXT.palette.theme(TEXT.you.themes[theme]), run: () => (settings.theme.value = theme) }))
  const zones = ZONES.map((zone) => ({ label: TEXT.palette.times(TEXT.you.zones[zone]), run: () => (settings.zone.value = zone) }))
  const leave = sessions.current.value?.open ? [] : [{ label: TEXT.you.logOut, run: () => void logOut() }]
  const enqueue = sessions.can('enqueue') ? [{ label: TEXT.palette.newJob, run: () => router.go('/jobs', { new: '1' }) }] : []
  return [
    ...enqueue,
    { label: live.pace.paused.value ? TEXT.live.resume : TEXT.live.pause, run: toggleLive },
    { label: TEXT.keys.help, run: () => (overlay.value = 'keys') },
    ...themes,
    ...zones,
    ...leave,
  ]
}
