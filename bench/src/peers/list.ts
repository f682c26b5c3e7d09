/** Every peer. */
import { beanstalkd } from './beanstalkd.ts'
import { bullmq } from './bullmq.ts'
import { graphileWorker } from './graphileWorker.ts'
import { liteque } from './liteque.ts'
import { onPostgres } from './onPostgres.ts'
import type { Peer } from './peer.ts'
import { pgBoss } from './pgBoss.ts'
import { plainjob } from './plainjob.ts'
import { sidequest } from './sidequest.ts'

export const PEERS: readonly Peer[] = [bullmq, onPostgres, pgBoss, graphileWorker, plainjob, liteque, sidequest, beanstalkd]
