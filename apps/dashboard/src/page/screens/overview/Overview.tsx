import { Page } from '../../frame/Page.tsx'
import { useStats } from '../../hooks.ts'
import { TEXT } from '../../text.ts'
import { Strip } from './Strip.tsx'

export function Overview() {
  const stats = useStats().value
  return <Page title={TEXT.screens.overview}>{stats !== undefined && <Strip stats={stats} />}</Page>
}
