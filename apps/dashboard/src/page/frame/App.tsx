/** Shows the screen of the address: with a frame around it, once somebody is logged in. */
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import type { ApiError } from '../api/problem.ts'
import { clock, router, sessions, statsNames } from '../page.ts'
import { find, type Params } from '../router/address.ts'
import type { ScreenProps } from '../screens/props.ts'
import { SCREENS, type Screen } from '../screens.ts'
import { TEXT } from '../text.ts'
import { Frame } from './Frame.tsx'
import { Notice } from './Notice.tsx'
import { nextOf } from './next.ts'

const RETRY_MS = 2_000

export function App() {
  const { path, query } = router.address.value
  const found = find(SCREENS, path)
  const screen = found?.entry
  useEffect(() => {
    document.title = `${screen?.title ?? TEXT.screens.missing} · ${TEXT.brand}`
    statsNames.value = screen?.percentiles === true ? 'percentiles' : 'none'
  }, [screen])
  const view = <Shown screen={screen} path={path} params={found?.params ?? {}} query={query} />
  return screen?.bare === true ? view : <Framed>{view}</Framed>
}

/** Nobody sees anything of the queue before the session is known. */
function Framed({ children }: { readonly children: ComponentChildren }) {
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    return sessions.current.peek() === undefined ? enter(setError) : undefined
  }, [])
  if (sessions.current.value !== undefined) return sessions.can('read') ? <Frame>{children}</Frame> : <Notice text={TEXT.frame.noRead} />
  return error === undefined ? null : <Notice text={TEXT.actions.failed(error.message)} />
}

/** Goes to the log-in if nobody is logged in; tries again while the server does not answer. */
function enter(tell: (error: ApiError) => void): () => void {
  let callOff = () => {}
  const attempt = async () => {
    try {
      const isKnown = await sessions.load()
      if (!isKnown) router.go('/login', { next: nextOf() }, { replace: true })
    } catch (error) {
      tell(error as ApiError)
      callOff = clock.after(RETRY_MS, () => void attempt())
    }
  }
  void attempt()
  return () => callOff()
}

interface ShownProps extends ScreenProps {
  readonly screen: Screen | undefined
  readonly path: string
}

function Shown({ screen, path, params, query }: ShownProps) {
  const [view, setView] = useState<{ readonly of: Screen; readonly View: ComponentType<ScreenProps> }>()
  const [isMissing, setMissing] = useState(false)
  const [error, reset] = useErrorBoundary()
  useEffect(() => {
    reset()
    setMissing(false)
    if (screen === undefined) return
    let isShown = true
    screen.load().then(
      (View) => isShown && setView({ of: screen, View }),
      () => isShown && setMissing(true),
    )
    // What was left while it loaded must not replace what is shown in its place.
    return () => {
      isShown = false
    }
  }, [screen])
  if (screen === undefined) return <Notice text={TEXT.frame.missing(path)} />
  if (error !== undefined) return <Notice text={TEXT.frame.failed(`${(error as Error).message}`)} />
  if (isMissing) return <Notice text={TEXT.frame.broken} />
  if (view?.of !== screen) return null
  return <view.View params={params as Params} query={query} />
}
