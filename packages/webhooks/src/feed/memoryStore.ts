/** Endpoints in memory, for tests and for apps that add the same ones whenever they start. */
import type { Endpoint, EndpointChange, EndpointStore } from './endpoint.ts'

/**
 * Lost with the process are the cursors, so that what happens until the endpoint is added again is not told; what was disabled is enabled
 * again; and `failingSince` begins anew. Deliveries that are in the queue are not lost. Where that matters, keep endpoints in a table.
 */
export class MemoryEndpointStore implements EndpointStore {
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(endpoints: readonly Endpoint[] = []) {
    for (const endpoint of endpoints) this.#endpoints.set(endpoint.id, endpoint)
  }

  async list(): Promise<readonly Endpoint[]> {
    return [...this.#endpoints.values()]
  }

  async save(endpoint: Endpoint): Promise<void> {
    this.#endpoints.set(endpoint.id, endpoint)
  }

  async update(changes: readonly EndpointChange[]): Promise<void> {
    for (const change of changes) {
      const endpoint = this.#endpoints.get(change.id)
      if (endpoint !== undefined) this.#endpoints.set(change.id, { ...endpoint, ...change })
    }
  }

  async delete(id: string): Promise<boolean> {
    return this.#endpoints.delete(id)
  }
}
