// The memory store keeps the promises of every store: so it can stand for any of them.
import { storeConformance } from '../../../testkit/src/storeConformance.ts'
import { MemoryStore } from './memoryStore.ts'

storeConformance('memory', () => {
  const store = new MemoryStore()
  return { store, openAgain: () => store }
})
