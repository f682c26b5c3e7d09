/** The frame around every screen: the sidebar, banners, keys that work everywhere, and dialogs. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { BulkDialog } from '../actions/BulkDialog.tsx'
import { Toast } from '../actions/Toast.tsx'
import { useAnswer, useKeys } from '../hooks.ts'
import { router, setServerTime } from '../page.ts'
import { SCREENS } from '../screens.ts'
import { TEXT } from '../text.ts'
import { KeyList } from './KeyList.tsx'
import { overlay } from './overlay.ts'
import { MAIN } from './Page.tsx'
import { Palette } from './palette/Palette.tsx'
import { Side } from './Side.tsx'
import { toggleLive } from './toggleLive.ts'

/** Beats between two looks at the server's clock. */
const RARELY = 150

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const info = useAnswer('/v1/info', {}, RARELY).value
  useEffect(() => {
    if (info !== undefined) setServerTime(Date.parse(info.now))
  }, [info])
  useKeys([
    ...SCREENS.flatMap(({ path, title, navigation }) =>
      navigation === undefined ? [] : [{ keys: `g ${navigation.key}`, label: title, group: TEXT.keys.go, run: () => router.go(path) }],
    ),
    ...['/', 'mod+k'].map((keys) => ({ keys, label: TEXT.keys.search, group: TEXT.keys.page, run: () => open('palette') })),
    { keys: '.', label: TEXT.keys.live, group: TEXT.keys.page, run: toggleLive },
    { keys: '?', label: TEXT.keys.help, group: TEXT.keys.page, run: () => open('keys') },
  ])
  return (
    <div class="frame">
      <a class="btn skip" href={`#${MAIN}`} onClick={skip}>
        {TEXT.frame.skip}
      </a>
      <Side info={info} />
      {children}
      {overlay.value === 'palette' && <Palette />}
      {overlay.value === 'keys' && <KeyList />}
      <BulkDialog />
      <Toast />
    </div>
  )
}

/** Moves the focus past the sidebar: the address stays. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById(MAIN)?.focus()
}

function open(which: 'palette' | 'keys'): void {
  overlay.value = which
}
