/** What goes wrong in a world beyond its store: deaths, cuts, freezes, clocks that are set, files that are taken over. */
import type { Refusal } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import type { Connection } from './engine.ts'
import type { Requests } from './requests.ts'
import type { Sessions } from './sessions.ts'
import type { SimulatedWorld } from './world.ts'

const TWO_HOURS_MS = 7_200_000

export class Misfortunes {
  readonly #world: SimulatedWorld
  readonly #chance: Chance
  readonly #sessions: Sessions
  readonly #requests: Requests
  /** The engine is gone, and another one is on its way. */
  #restarting = false
  /** The file has another owner. */
  #stolen = false

  constructor(world: SimulatedWorld, chance: Chance, sessions: Sessions, requests: Requests) {
    this.#world = world
    this.#chance = chance
    this.#sessions = sessions
    this.#requests = requests
  }

  schedule(): void {
    const { plan, timeline, faults, history } = this.#world
    const sometimes = (times: number, what: string, work: () => void) => {
      for (let time = 0; time < times; time++) {
        timeline.after(this.#chance.random() * plan.safetyMs, () => {
          if (this.#world.healed) return
          history.meet(what)
          history.note(what)
          work()
        })
      }
    }
    sometimes(plan.writerDeaths, 'writerDeath', () => this.crash('a death of the writer'))
    sometimes(plan.processDeaths, 'processDeath', () => this.#processDies(this.#chance.hits(0.5)))
    sometimes(plan.clientDeaths, 'clientDeath', () => this.#clientDies())
    sometimes(plan.cuts, 'cut', () => this.#cut())
    sometimes(plan.freezes, 'freeze', () => this.#freeze())
    sometimes(plan.wallJumps, 'wallJump', () => timeline.jump(this.#chance.whole(-TWO_HOURS_MS, TWO_HOURS_MS)))
    sometimes(plan.thefts, 'theft', () => this.#steal())
    sometimes(plan.fullDisks, 'fullDisk', () => {
      faults.fullUntilMono = timeline.mono + this.#chance.whole(100, 4_000)
      faults.ballastHelps = this.#chance.hits(0.7)
    })
    sometimes(plan.busySpells, 'busySpell', () => {
      faults.busyUntilMono = timeline.mono + this.#chance.pick([40, 400, 2_000, 7_000])
    })
    sometimes(plan.clogs, 'clog', () => this.#clog())
  }

  /** The engine's thread dies here and now; its process lives, or dies with it. */
  crash(where: string): void {
    const { engine, timeline, history } = this.#world
    if (engine.dead) return
    history.note(`the engine dies: ${where}`)
    history.meet('engineCrash')
    engine.die()
    const all = this.#chance.hits(0.2)
    // Not within the turn that it dies in.
    timeline.after(0, () => {
      // It may have a successor already, where the world was healed in between.
      if (this.#world.engine !== engine) return
      if (all) this.#processDies(true)
      else this.#writerGone()
    })
  }

  /** Between two deliveries of one turn. */
  delivering(): void {
    const { plan, healed } = this.#world
    if (healed || !this.#chance.hits(plan.engineCrash / 3)) return
    this.#world.history.meet('crash between deliveries')
    this.crash('between deliveries')
  }

  /** The engine hears of it in its own time. */
  kill(client: Client): void {
    const connection = client.die()
    this.#world.clients = this.#world.clients.filter((other) => other !== client)
    if (connection !== undefined) this.#hearOfEnd(connection, this.#chance.small(300))
  }

  engineFailed(refusal: Refusal | undefined, error: unknown): void {
    const { engine, history, timeline, healed } = this.#world
    engine.die()
    const code = refusal?.code ?? String(error)
    history.note(`the engine fails: ${code}`)
    history.meet(`engineFailed ${code}`)
    const expected = code === 'OWNER_LOST' ? this.#stolen : history.met['statementError'] !== undefined && code === 'INTERNAL' && !healed
    history.hold(expected, 8, () => `the engine has failed with ${code}`)
    timeline.after(0, () => (code === 'OWNER_LOST' ? this.#processDies(true) : this.#writerGone()))
  }

  /** All heals: what was cut is whole again, and who was dead has a successor. */
  end(): void {
    const { engine } = this.#world
    if (engine.dead) this.#writerGone()
  }

  #writerGone(): void {
    const { timeline, clients } = this.#world
    if (this.#restarting) return
    this.#restarting = true
    const arrives = this.#chance.hits(0.5)
    this.#requestsOfAll()
    for (const client of clients) {
      if (client.dead) continue
      this.#disturb(client)
      client.broken(arrives)
    }
    timeline.after(this.#chance.small(400), () => this.#restart())
  }

  #restart(): void {
    this.#restarting = false
    const living = this.#world.clients.filter((client) => !client.dead)
    const alive = new Set(living.flatMap((client) => [...client.sessions]))
    const engine = this.#world.startEngine(alive)
    for (const client of living) {
      this.#disturb(client)
      client.reopened(engine)
    }
    if (living.length === 0) this.#world.addClient(true)
  }

  /** With all its clients, or with the first of them alone. */
  #processDies(all: boolean): void {
    const { engine, clients, timeline } = this.#world
    engine.die()
    for (const client of all ? clients : clients.slice(0, 1)) client.die()
    this.#world.clients = clients.filter((client) => !client.dead)
    if (this.#restarting) return
    this.#requestsOfAll()
    this.#restarting = true
    for (const client of this.#world.clients) {
      this.#disturb(client)
      client.broken(false)
    }
    timeline.after(this.#chance.small(600), () => this.#restart())
  }

  #clientDies(): void {
    const { clients } = this.#world
    const living = clients.filter((client) => !client.dead)
    if (living.length < 2) return
    this.kill(this.#chance.pick(living))
  }

  /** What is under way is lost; both ends hear of it in their own time. */
  #cut(): void {
    const { clients, timeline } = this.#world
    const connected = clients.filter((client) => client.remote && !client.dead && client.connected)
    if (connected.length === 0 || this.#restarting) return
    const client = this.#chance.pick(connected)
    const connection = client.cut()
    if (connection === undefined) return
    // Short, or longer than a lease.
    const brokenMs = this.#chance.small(this.#chance.pick([500, 6_000]))
    const awayMs = this.#chance.small(this.#chance.pick([500, 9_000]))
    client.disturbedUntil = Math.max(client.disturbedUntil, timeline.mono + brokenMs + awayMs)
    this.#hearOfEnd(connection, this.#chance.small(this.#chance.pick([1_000, 6_000])))
    const { engine } = this.#world
    timeline.after(brokenMs, () => {
      // The engine's own death may have told it meanwhile, and brought it back.
      if (client.dead || client.connected || this.#world.engine !== engine || engine.dead) return
      client.broken(false)
      timeline.after(awayMs, () => {
        if (client.dead || client.connected || this.#world.engine !== engine || engine.dead) return
        this.#disturb(client)
        client.reopened(engine)
      })
    })
  }

  /** What is under way is late, and nobody is told. */
  #clog(): void {
    const { clients, timeline } = this.#world
    const connected = clients.filter((client) => client.remote && !client.dead && client.connected)
    if (connected.length === 0) return
    const client = this.#chance.pick(connected)
    const [upMs, downMs] = [this.#chance.pick([0, 300, 3_000]), this.#chance.pick([0, 300, 3_000])]
    client.clog(this.#chance.random() * upMs, this.#chance.random() * downMs)
    client.disturbedUntil = Math.max(client.disturbedUntil, timeline.mono + Math.max(upMs, downMs))
  }

  #freeze(): void {
    const { clients, timeline } = this.#world
    const living = clients.filter((client) => !client.dead)
    if (living.length === 0) return
    const client = this.#chance.pick(living)
    client.frozenUntil = Math.max(client.frozenUntil, timeline.mono + this.#chance.whole(300, 15_000))
    client.disturbedUntil = Math.max(client.disturbedUntil, client.frozenUntil)
  }

  #steal(): void {
    this.#stolen = true
    this.#world.steal()
  }

  /** The engine's end of a channel notices in its own time. */
  #hearOfEnd(connection: Connection, ms: number): void {
    this.#world.timeline.after(ms, () => {
      this.#sessions.dropped(connection)
      this.#requests.dropped(connection.name)
      connection.drop()
    })
  }

  #disturb(client: Client): void {
    client.disturbedUntil = Math.max(client.disturbedUntil, this.#world.timeline.mono)
  }

  /** The connections of a dead engine are answered by nobody. */
  #requestsOfAll(): void {
    this.#requests.droppedAll()
  }
}
