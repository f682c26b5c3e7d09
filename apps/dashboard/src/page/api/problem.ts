/** A call that failed: refused by the API, or not answered. */

/** The error of one value of a request: its path, as `body.options.priority`, and why it was refused. */
export interface Fault {
  readonly path: string
  readonly message: string
}

interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly title?: string
  readonly errors?: readonly Fault[]
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The status of the answer; 0 if there was none. */
  readonly status: number
  /** The stable code, such as JOB_NOT_FOUND. */
  readonly code: string
  /** How long to wait before another call, in milliseconds; undefined if the API does not say. */
  readonly retryAfterMs: number | undefined
  /** The values that were refused, if the API names them. */
  readonly faults: readonly Fault[]

  constructor(status: number, code: string, message: string, retryAfterMs?: number, faults: readonly Fault[] = []) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.faults = faults
  }

  /** True if the API itself is out of reach or out of order, and not only this call refused. */
  get isDown(): boolean {
    return this.status === 0 || this.status >= 500
  }
}

export async function problemOf(response: Response): Promise<ApiError> {
  const { code = '', detail, title, errors } = await bodyOf(response)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const message = detail ?? title ?? `${response.status} ${response.statusText}`.trim()
  return new ApiError(response.status, code, message, Number.isFinite(seconds) ? seconds * 1_000 : undefined, errors)
}

/** A proxy in between answers with pages of its own. */
async function bodyOf(response: Response): Promise<ProblemBody> {
  try {
    return (await response.json()) as ProblemBody
  } catch {
    return {}
  }
}
