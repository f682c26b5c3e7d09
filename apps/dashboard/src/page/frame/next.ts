/** The address to come back to after a log-in. */
import { router } from '../page.ts'
import { href } from '../router/address.ts'

/** Undefined for the overview, where a log-in leads anyway. */
export function nextOf(): string | undefined {
  const { path, query } = router.address.value
  const next = href(path, query)
  return next === '/' ? undefined : next
}
