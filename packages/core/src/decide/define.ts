/**
 * Whose defaults of a name are in force. Of living sessions that say different ones, those of the engine's own process decide; among
 * equals whoever was first, until it is gone or they agree. What is in force stays so when nobody is left who says it.
 */
import type { Defaults, SessionIntro } from '../commands.ts'
import type { Session } from '../tables/session.ts'
import type { Tables } from '../tables/tables.ts'
import { beginToSettle, settleAnew } from './settle.ts'
import type { TurnContext } from './turn.ts'

/** Names that a session is the first to define: before it is served any of their jobs. A definition that says nothing changes none. */
export function beginToDefine({ tables }: TurnContext, { handlers }: SessionIntro): void {
  for (const { name, defaults } of handlers)
    if (tables.definitions.get(name) === undefined && Object.keys(defaults).length > 0) beginToSettle(tables, name)
}

/** A session has said its defaults. Answers the names for which others than its own are in force. */
export function define(turn: TurnContext, session: Session): readonly string[] {
  const { definitions, present } = turn.tables
  const disputed: string[] = []
  for (const { name, defaults } of session.intro.handlers) {
    const inForce = definitions.get(name)
    const agrees = inForce !== undefined && isSame(inForce.defaults, defaults)
    const sayer = inForce && present.get(inForce.session)
    // One of the engine's own process stands for what others have said first: nobody else of it overrules that while it is away.
    if (inForce === undefined || (agrees && (sayer === undefined || (session.intro.local && !sayer.local)))) putInForce(turn, name, session)
    if ((inForce !== undefined && !agrees) || definitions.disputes.has(name)) reconsider(turn, name)
    if (definitions.disputes.get(name)?.has(session)) disputed.push(name)
  }
  return disputed
}

/** A session is gone: whoever agreed with it stands for what it has said; otherwise what others have said in vain may be in force now. */
export function undefine(turn: TurnContext, uuid: string, session: Session | undefined): void {
  const { tables } = turn
  const { definitions } = tables
  const names = new Set(definitions.saidBy(uuid))
  for (const { name } of session?.intro.handlers ?? []) if (definitions.disputes.has(name)) names.add(name)
  for (const name of names) {
    const { defaults, session: sayer } = definitions.get(name) ?? {}
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
  const isInForce = (session: Session) => isSame(definitions.get(name)?.defaults, defaultsOf(session, name))
  if (first !== undefined && !voters.some(isInForce) && !isToComeBack(tables, name, first.intro.local)) putInForce(turn, name, first)
  const before = definitions.disputes.get(name)
  const against = new Set(sessions.filter((session) => !isInForce(session)))
  if (against.size === 0) definitions.disputes.delete(name)
  else definitions.disputes.set(name, against)
  for (const session of against) {
    const { worker, uuid } = session.intro
    if (before?.has(session) !== true) effects.news({ type: 'worker.disputed', worker, session: uuid, name })
  }
}

/** The session whose word is in force is there as far as is known, and has yet to attach again after a break. */
function isToComeBack({ definitions, present, sessions }: Tables, name: string, isOverruled: boolean): boolean {
  const uuid = definitions.get(name)?.session ?? ''
  const sayer = present.get(uuid)
  // One that is away serves nothing; one that is back may have changed its mind.
  if (sayer === undefined || (sessions.get(uuid)?.intro.handlers.length ?? 0) > 0) return false
  return sayer.local || !isOverruled
}

function putInForce({ tables, effects, now }: TurnContext, name: string, session: Session): void {
  const { definitions } = tables
  const { uuid, worker, host } = session.intro
  const firstSeq = definitions.get(name)?.firstSeq ?? tables.nextSeq
  const definition = { defaults: defaultsOf(session, name), session: uuid, worker, host, saidAt: now.wall, firstSeq }
  const before = definitions.get(name)
  definitions.set(name, definition)
  if (before !== undefined && !isSame(before.defaults, definition.defaults)) settleAnew(tables, name, definition)
  effects.definitions.push({ name, definition, settling: definitions.settling.get(name)?.before ?? 0 })
}

/** Those of the engine's own process, if there are any. */
function votersOf(sessions: readonly Session[]): readonly Session[] {
  const own = sessions.filter(({ intro }) => intro.local)
  return own.length > 0 ? own : sessions
}

function oldest(sessions: readonly Session[]): Session | undefined {
  return sessions.toSorted((one, other) => one.id - other.id)[0]
}

function servers({ services }: Tables, name: string): Session[] {
  return [...services.values()].flatMap((service) => (service.names.has(name) ? [...service.sessions] : []))
}

function defaultsOf(session: Session, name: string): Defaults {
  return session.defaults.get(name) ?? {}
}

function isSame(one: Defaults | undefined, other: Defaults): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
