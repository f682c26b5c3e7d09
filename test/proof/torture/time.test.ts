// Time that passes all at once, and clocks that jump.
import { clockJumps } from './scenarios/clock.ts'
import { stoppedOwner, unreadHeartbeats } from './scenarios/pauses.ts'
import { slice } from './slice.ts'

slice('2, 8, 9: the owner is stopped for longer than the timeouts, and goes on (SIGSTOP, SIGCONT)', stoppedOwner)
slice('33: heartbeats that sat unread for longer than the timeouts are processed before anything expires', unreadHeartbeats)
slice('22: the wall clock jumps by hours', clockJumps)
