/** The option `dashboard`: the files of its page, and which pages may show it in a frame. */
import {
  checkKnown,
  describe,
  type EnqueueOptions,
  encodeData,
  LIMITS,
  nameOption,
  newJobFrom,
  OptionRangeError,
  OptionTypeError,
} from '@millrace/core'
import { BOUNDS } from '../limits.ts'

/** A file of the dashboard, as a browser gets it. */
export interface DashboardFile {
  /** The content type. */
  readonly type: string
  readonly body: Uint8Array
  /** The body compressed by Brotli; undefined if it is not. */
  readonly br: Uint8Array | undefined
  /** The body compressed by gzip; undefined if it is not. */
  readonly gzip: Uint8Array | undefined
  /** The entity tag, in its quotes. */
  readonly etag: string
  /** True if the name changes with the content: browsers may keep the file for ever. */
  readonly immutable: boolean
}

/** The dashboard that the API serves. */
export interface DashboardOptions {
  /**
   * The files by their paths: `/index.html`, and others below `/assets/`. In `/index.html`, each `{basePath}` is replaced by
   * `basePath`: nothing for the root.
   */
  readonly files: ReadonlyMap<string, DashboardFile>
  /** Pages that may show the dashboard in a frame: `'self'`, or origins such as `https://admin.example.com`. Default none. */
  readonly frameAncestors?: readonly string[]
  /** Up to 10 jobs that the overview offers to enqueue, for demos and for tests of an installation. Default none. */
  readonly samples?: readonly SampleOptions[]
}

/** A job that the dashboard offers to enqueue, to callers who may. */
export interface SampleOptions {
  /** The words of its button: 1 to 64 characters. */
  readonly title: string
  /** The name of the job. */
  readonly job: string
  /** The data of the job, as JSON. Default none. */
  readonly data?: unknown
  /** The options of the job, such as its queue. Default: those of its queue. */
  readonly options?: EnqueueOptions
}

export interface DashboardSettings {
  /** The text of `/index.html`. */
  readonly page: string
  /** The files below `/assets/`. */
  readonly assets: ReadonlyMap<string, DashboardFile>
  readonly frameAncestors: readonly string[]
  readonly samples: readonly SampleOptions[]
}

const KNOWN = new Set(['files', 'frameAncestors', 'samples'])
const SAMPLE_KNOWN = new Set(['title', 'job', 'data', 'options'])
const SAMPLES_MAX = 10
const TITLE_MAX = 64
const PAGE = '/index.html'
/** The marker in the page that the base path replaces. */
export const BASE_PATH_MARKER = '{basePath}'
/** No segment begins with a dot, so none leads elsewhere; and no character means anything to the router. */
const ASSET = /^\/assets(?:\/[\w-][\w.-]*)+$/
const ETAG = /^"[!#-~]+"$/
const HEADER = /^[ -~]+$/
const ORIGIN = /^https?:\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i

/** @throws OptionTypeError, OptionRangeError */
export function dashboardOption(value: unknown): DashboardSettings {
  checkKnown('dashboard', value, KNOWN)
  const { files, frameAncestors = [], samples = [] } = value
  const assets = filesRead(files)
  const page = assets.get(PAGE)
  if (page === undefined) throw new OptionTypeError('dashboard.files', `dashboard.files must have ${PAGE}, the page itself`)
  assets.delete(PAGE)
  return { page: pageRead(page), assets, frameAncestors: ancestorsRead(frameAncestors), samples: samplesRead(samples) }
}

function filesRead(files: unknown): Map<string, DashboardFile> {
  if (!(files instanceof Map)) {
    const message = `dashboard.files must be a Map of files, as dashboardFiles() of @millrace/dashboard resolves to, got ${describe(files)}`
    throw new OptionTypeError('dashboard.files', message)
  }
  return new Map([...files].map(([path, file]) => [pathRead(path), fileRead(path, file)]))
}

function pathRead(path: unknown): string {
  if (typeof path === 'string' && (path === PAGE || ASSET.test(path))) return path
  const message = `the paths of dashboard.files must be ${PAGE}, or begin with /assets/ and have only letters, digits, '.', '_' and '-', got ${describe(path)}`
  throw new OptionTypeError('dashboard.files', message)
}

function fileRead(path: string, value: unknown): DashboardFile {
  const file = (value ?? {}) as Partial<Record<keyof DashboardFile, unknown>>
  const optional = (body: unknown) => body === undefined || body instanceof Uint8Array
  const faulty = Object.entries({
    type: typeof file.type === 'string' && HEADER.test(file.type),
    body: file.body instanceof Uint8Array,
    br: optional(file.br),
    gzip: optional(file.gzip),
    etag: typeof file.etag === 'string' && ETAG.test(file.etag),
    immutable: typeof file.immutable === 'boolean',
  }).find(([, good]) => !good)
  if (faulty === undefined) return file as DashboardFile
  const wanted = 'it must be { type, body, br, gzip, etag, immutable }, with bodies as bytes and the etag in its quotes'
  throw new OptionTypeError('dashboard.files', `the ${faulty[0]} of ${path} in dashboard.files is not valid: ${wanted}`)
}

function pageRead({ body }: DashboardFile): string {
  const page = new TextDecoder().decode(body)
  if (page.includes(BASE_PATH_MARKER)) return page
  const message = `${PAGE} must name the path that it is mounted at as ${BASE_PATH_MARKER}: its scripts would not be found below a basePath`
  throw new OptionTypeError('dashboard.files', message)
}

function ancestorsRead(value: unknown): readonly string[] {
  const option = 'dashboard.frameAncestors'
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of origins, got ${describe(value)}`)
  if (value.length > BOUNDS.frameAncestors) {
    const message = `${option} must have at most ${BOUNDS.frameAncestors} origins, got ${value.length}`
    throw new OptionRangeError(option, BOUNDS.frameAncestors, message)
  }
  return value.map((origin, index) => {
    if (origin === 'self') return "'self'"
    if (typeof origin === 'string' && ORIGIN.test(origin)) return origin
    const wanted = "'self', or an origin without a path, as 'https://admin.example.com'"
    throw new OptionTypeError(`${option}[${index}]`, `${option}[${index}] must be ${wanted}, got ${describe(origin)}`)
  })
}

function samplesRead(value: unknown): readonly SampleOptions[] {
  if (!Array.isArray(value) || value.length > SAMPLES_MAX) {
    const message = `dashboard.samples must be a list of at most ${SAMPLES_MAX} jobs, got ${describe(value)}`
    throw new OptionTypeError('dashboard.samples', message)
  }
  return value.map((sample: unknown, index) => {
    const option = `dashboard.samples[${index}]`
    checkKnown(option, sample, SAMPLE_KNOWN)
    const { title, job, data, options } = sample as Readonly<Record<string, unknown>>
    newJobFrom(
      nameOption(`${option}.job`, job),
      encodeData(`${option}.data`, data, LIMITS.dataBytes),
      (options ?? {}) as EnqueueOptions,
      undefined,
    )
    return { title: titleRead(`${option}.title`, title), job: job as string, data, options: (options ?? {}) as EnqueueOptions }
  })
}

function titleRead(option: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= TITLE_MAX) return value
  throw new OptionTypeError(option, `${option} must be a string of 1 to ${TITLE_MAX} characters, got ${describe(value)}`)
}
