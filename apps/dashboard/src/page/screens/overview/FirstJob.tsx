import { apiUrl, sessions } from '../../page.ts'
import { Copy } from '../../parts/Copy.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { TEXT } from '../../text.ts'
import { firstJobCommand } from './firstJobCommand.ts'

const { empty } = TEXT.overview

/** In place of figures while no job has ever been enqueued. */
export function FirstJob() {
  const isOpen = sessions.current.value?.open === true
  const command = firstJobCommand(apiUrl, isOpen)
  return (
    <Empty icon="queues" title={empty.title} text={isOpen ? empty.openText : empty.text}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways by the arrow keys */}
      <pre tabIndex={0}>{command}</pre>
      <div class="do">
        <Copy text={command} named />
      </div>
    </Empty>
  )
}
