/** Data, output or checkpoint of a job: the first 64 KiB as JSON, and the rest as a file. */
import type { JobAnswer } from '../api/answers.ts'
import { bytes } from '../format/numbers.ts'
import { router } from '../page.ts'
import { Copy } from '../parts/Copy.tsx'
import { Json } from '../parts/json/Json.tsx'
import { JSON_TEXT } from '../parts/json/text.ts'
import { JOB_TEXT } from './text.ts'
import { type PayloadName, whyNotShown } from './whyNotShown.ts'

interface Props {
  readonly job: JobAnswer
  readonly name: PayloadName
}

export function Payload({ job, name }: Props) {
  const preview = job.preview?.[name]
  return (
    <section aria-label={JOB_TEXT.payloads[name]}>
      <header>
        <h2>{JOB_TEXT.payloads[name]}</h2>
        {preview !== undefined && <span class="faint num">{bytes(preview.bytes)}</span>}
        <div class="end">
          {preview?.text !== undefined && preview.cut === undefined && <Copy text={preview.text} />}
          {preview !== undefined && (preview.cut || preview.text === undefined) && (
            <a class="btn ghost" href={router.to(`/v1/jobs/${encodeURIComponent(job.id)}/${name}`)} download>
              {JSON_TEXT.download}
            </a>
          )}
        </div>
      </header>
      {preview === undefined ? (
        <p class="note">{name === 'output' && job.state === 'completed' ? JOB_TEXT.noOutput : JOB_TEXT.noPayload[name]}</p>
      ) : (
        <Shown job={job} name={name} />
      )}
    </section>
  )
}

function Shown({ job, name }: Props) {
  const { text, binary, cut } = job.preview?.[name] ?? {}
  if (text === undefined) return <p class="note">{JSON_TEXT.notShown[whyNotShown(job, name)]}</p>
  return (
    <>
      {binary && <p class="note">{JSON_TEXT.bytes}</p>}
      {binary ? <p class="json">{text}</p> : <Json source={text} isRedacted={job.redacted?.includes(name) === true} />}
      {cut && <p class="note">{JSON_TEXT.cutAt(bytes(text.length))}</p>}
    </>
  )
}
