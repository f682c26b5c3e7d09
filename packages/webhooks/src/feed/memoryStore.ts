/** Endpoints in memory, for tests and for apps that add the same ones whenever they start. */
import type { Endpoint, EndpointChange, EndpointStore } from './endpoint.ts'

/**
 * Keeps endpoints until the process ends. A restart loses the cursors, so events until the endpoint is added again are not
 * delivered. It also enables disabled endpoints and clears `failingSince`. Deliveries in the queue are not lost. If that
 * matters, keep endpoints in a table.
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
