import { sessions, settings } from '../page.ts'
import { Menu } from '../parts/Menu.tsx'
import { Segments } from '../parts/Segments.tsx'
import { THEMES, ZONES } from '../settings.ts'
import { TEXT } from '../text.ts'
import { logOut } from './logOut.ts'

/** The user who is logged in; the button opens their preferences. */
export function You() {
  const session = sessions.current.value
  if (session === undefined) return null
  const who = session.open ? TEXT.you.open : TEXT.you.who(session.name, session.scopes.join(', '))
  return (
    <Menu label={`${who}: ${TEXT.you.settings}`} class="row you faint" button={<span>{who}</span>}>
      <div class="field-row">
        <span>{TEXT.you.theme}</span>
        <Segments
          label={TEXT.you.theme}
          options={THEMES.map((theme) => [theme, TEXT.you.themes[theme]] as const)}
          value={settings.theme.value}
          onChange={(theme) => (settings.theme.value = theme)}
        />
      </div>
      <div class="field-row">
        <span>{TEXT.you.times}</span>
        <Segments
          label={TEXT.you.times}
          options={ZONES.map((zone) => [zone, TEXT.you.zones[zone]] as const)}
          value={settings.zone.value}
          onChange={(zone) => (settings.zone.value = zone)}
        />
      </div>
      {!session.open && (
        <button type="button" class="item" onClick={() => void logOut()}>
          {TEXT.you.logOut}
        </button>
      )}
    </Menu>
  )
}
