// kill -9, in short; `main.ts` does it for hours.
import { ownerKills, threadKills } from './scenarios/kills.ts'
import { slice } from './slice.ts'

slice('1, 2, 4, 7, 9, 10, 20: kill -9 of the owner under load', ownerKills)
slice('1, 2, 9, 10, 11: kill -9 of the process while threads of its pool run handlers', threadKills)
