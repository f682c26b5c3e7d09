/** Payloads of bytes in bodies: JSON holds them as base64, and `binary` names them, as in the answers. */
import { z } from '@hono/zod-openapi'
import { bytesOption, type PayloadName } from '@millrace/core'

export function binaryOf<const Name extends PayloadName>(...names: readonly [Name, ...Name[]]) {
  const description = 'Which payloads are bytes, in base64: a string, or `{"base64": "…"}` as in a line of `millrace export`.'
  return z.array(z.enum(names)).max(names.length).optional().openapi({ description })
}

type Named = { readonly [Name in PayloadName]?: unknown } & { readonly binary?: readonly PayloadName[] | undefined }

/**
 * Returns the body without `binary`, and with the bytes that it names.
 *
 * @param place what is before the names of payloads in an error, such as `jobs[3].`
 * @throws OptionTypeError
 */
export function withBytes<Body extends Named>({ binary = [], ...body }: Body, place = ''): Omit<Body, 'binary'> {
  if (binary.length === 0) return body
  return { ...body, ...Object.fromEntries(binary.map((name) => [name, bytesOption(`${place}${name}`, (body as Named)[name])])) }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
