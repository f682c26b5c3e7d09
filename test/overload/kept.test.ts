// What is kept of a run or a job, and what is kept for those who listen, is capped.
import { slice } from '../torture/slice.ts'
import { histories } from './scenarios.ts'

slice('30: log lines, failures and results are capped', histories)
