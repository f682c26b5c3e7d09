/** The jobs of the application: a definition, and the provider whose method handles it. */
import { type Context, defineJob } from '@millrace/engine'
import { Handles, Processor } from '@millrace/nestjs'
import { Injectable } from '@nestjs/common'

export interface Mail {
  readonly to: string
}

export const sendMail = defineJob<Mail>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })

@Injectable()
export class Mailer {
  deliver(to: string): string {
    console.log(`mail to ${to}`)
    return `sent to ${to}`
  }
}

@Processor({ concurrency: 4 })
export class Mails {
  constructor(private readonly mailer: Mailer) {}

  @Handles(sendMail)
  send({ data }: Context<Mail>): string {
    return this.mailer.deliver(data.to)
  }
}
