import { TEXT } from '../text.ts'
import { Page } from './Page.tsx'

/** A page with a sentence in place of a screen. */
export function Notice({ text }: { readonly text: string }) {
  return (
    <Page name="missing" title={TEXT.screens.missing}>
      <section class="card empty">
        <p>{text}</p>
      </section>
    </Page>
  )
}
