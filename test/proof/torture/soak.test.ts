// Many jobs, flat memory; `main.ts --only soak --soak 1000000` does a million.
import { soak } from './scenarios/soak.ts'
import { slice } from './slice.ts'

// Fewer are over before the heap has been collected often enough to tell.
slice('8 of the architecture: memory does not grow with the jobs done', soak, { soakJobs: 600_000 })
