// What is kept of a run or a job, and what is kept for those who listen, is capped.
import { slice } from '../proof/torture/slice.ts'
import { histories, slowListener, unreadPort } from './scenarios.ts'

slice('30: log lines, failures and results are capped', histories)
slice('30: events for a listener that cannot follow are left out, and the gap is told', slowListener)
slice('30: a port that is never read holds no more than its bound', unreadPort)
