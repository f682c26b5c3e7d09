/**
 * Decides whose defaults of a name are in force. If living sessions disagree, those of the engine's own process decide. Among
 * equals the first one decides, until it is gone or they agree. Defaults stay in force when no session that states them is left; but jobs that
 * are enqueued then take those of the next one, if they have not started.
 */
import type { Defaults, SessionIntro } from '../../commands.ts'
import { beginToSettle, settleAnew } from '../jobs/settle.ts'
import { hasAttached, type Session } from '../records/session.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

/**
 * Begins to settle names that a session defines first, or after another that is gone, before it is served any of their jobs. An empty
 * first definition changes none.
 */
export function beginToDefine({ tables }: TurnContext, { handlers, defines }: SessionIntro): void {
  if (defines === false) return
  for (const { name, defaults } of handlers) {
    const inForce = tables.definitions.inForce.get(name)
    const changes =
      inForce === undefined ? Object.keys(defaults).length > 0 : !tables.present.has(inForce.session) && !isSame(inForce.defaults, defaults)
    if (changes) beginToSettle(tables, name, inForce === undefined)
  }
}

/** Takes the defaults of a session, which may have been awaited. Returns the names for which others than its own are in force. */
export function define(turn: TurnContext, session: Session, wasAwaited: boolean): readonly string[] {
  const { definitions, present } = turn.tables
  const { handlers, defines } = session.intro
  const disputed: string[] = []
  for (const { name, defaults } of defines === false ? [] : handlers) {
    const inForce = definitions.inForce.get(name)
    const agrees = inForce !== undefined && isSame(inForce.defaults, defaults)
    const sayer = inForce && present.get(inForce.session)
    // A session of the engine's own process takes over what others stated first: its other sessions cannot overrule that while it is away.
    if (inForce === undefined || (agrees && (sayer === undefined || (session.intro.local && !sayer.local)))) putInForce(turn, name, session)
    if ((inForce !== undefined && !agrees) || definitions.disputes.has(name)) reconsider(turn, name)
  }
  if (wasAwaited) for (const name of [...definitions.disputes.keys()]) reconsider(turn, name)
  for (const { name, defaults } of handlers) {
    const isDisputed =
      defines === false ? !isSame(definitions.inForce.get(name)?.defaults ?? {}, defaults) : definitions.disputes.get(name)?.has(session)
    if (isDisputed === true) disputed.push(name)
  }
  return disputed
}

/** Handles the end of a session. One that agrees takes over its defaults; otherwise disputed ones may come into force. */
export function undefine(turn: TurnContext, uuid: string, session: Session | undefined): void {
  const { tables } = turn
  const { definitions } = tables
  const names = new Set(definitions.saidBy(uuid))
  // It is unknown what an awaited session would have stated.
  const mayHaveSaid = hasAttached(session) ? session.intro.handlers.map(({ name }) => name) : definitions.disputes.keys()
  for (const name of mayHaveSaid) if (definitions.disputes.has(name)) names.add(name)
  for (const name of names) {
    const { defaults, session: sayer } = definitions.inForce.get(name) ?? {}
    const agreeing = sayer === uuid ? servers(tables, name).filter((one) => isSame(defaults, defaultsOf(one, name))) : []
    const agreed = oldest(votersOf(agreeing))
    if (agreed !== undefined) putInForce(turn, name, agreed)
    reconsider(turn, name)
  }
}

function reconsider(turn: TurnContext, name: string): void {
  const { tables, effects } = turn
  const { definitions } = tables
  const sessions = servers(tables, name)
  const voters = votersOf(sessions)
  const first = oldest(voters)
  const isInForce = (session: Session) => isSame(definitions.inForce.get(name)?.defaults, defaultsOf(session, name))
  if (first !== undefined && !voters.some(isInForce) && !isAwaited(tables, first.intro.local)) putInForce(turn, name, first)
  const before = definitions.disputes.get(name)
  const against = new Set(sessions.filter((session) => !isInForce(session)))
  if (against.size === 0) definitions.disputes.delete(name)
  else definitions.disputes.set(name, against)
  for (const session of against) {
    const { worker } = session.intro
    if (before?.has(session) !== true) effects.systemEvent({ type: 'worker.disputed', worker, session: String(session.id), name })
  }
}

/** True if a session with a say in the defaults has yet to attach again after a reload. No defaults are overruled until then. */
function isAwaited({ present, sessions }: Tables, byOwn: boolean): boolean {
  return [...present].some(
    ([uuid, { local, untilMono }]) => (local || !byOwn) && untilMono > Number.NEGATIVE_INFINITY && !hasAttached(sessions.get(uuid)),
  )
}

function putInForce({ tables, effects, now }: TurnContext, name: string, session: Session): void {
  const { definitions } = tables
  const { uuid, worker, host } = session.intro
  const firstSeq = definitions.inForce.get(name)?.firstSeq ?? tables.nextSeq
  const definition = { defaults: defaultsOf(session, name), session: uuid, worker, host, saidAt: now.wall, firstSeq }
  const before = definitions.inForce.get(name)
  definitions.set(name, definition)
  if (before !== undefined && !isSame(before.defaults, definition.defaults)) settleAnew(tables, name, before)
  effects.definitions.push({ name, definition, settling: definitions.settling.get(name)?.before ?? 0 })
}

/** Returns the sessions of the engine's own process, or all of them if it has none. */
function votersOf(sessions: readonly Session[]): readonly Session[] {
  const own = sessions.filter(({ intro }) => intro.local)
  return own.length > 0 ? own : sessions
}

function oldest(sessions: readonly Session[]): Session | undefined {
  return sessions.toSorted((one, other) => one.id - other.id)[0]
}

/** Returns the sessions that serve the name, without those that have no say in its defaults. */
function servers({ groups }: Tables, name: string): Session[] {
  const sessions = [...groups.values()].flatMap((group) => (group.names.has(name) ? [...group.sessions] : []))
  return sessions.filter(({ intro }) => intro.defines !== false)
}

function defaultsOf(session: Session, name: string): Defaults {
  return session.defaults.get(name) ?? {}
}

function isSame(one: Defaults | undefined, other: Defaults): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
