/** Starts the page. */
import { render } from 'preact'
import './style/app.css'
import { App } from './frame/App.tsx'
import { applyTheme } from './hooks.ts'
import { listenToKeys } from './keys/bindings.ts'
import { clock, router } from './page.ts'
import { find } from './router/address.ts'
import { SCREENS } from './screens.ts'

applyTheme()
router.followLinks((path) => find(SCREENS, path) !== undefined)
listenToKeys(document, () => clock.now())
const root = document.querySelector('#app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
