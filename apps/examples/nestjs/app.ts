/** The module: the engine, a worker, a route that enqueues, and a health check. */
import { Engine } from '@millrace/engine'
import { engineHealth, MillraceModule } from '@millrace/nestjs'
import { Body, Controller, Get, Module, Post } from '@nestjs/common'
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus'
import { type Mail, Mailer, Mails, sendMail } from './mails.ts'

@Controller('mails')
class MailsController {
  constructor(private readonly engine: Engine) {}

  @Post()
  async create(@Body() { to }: Mail) {
    const { id } = await this.engine.enqueue(sendMail, { to })
    return { id }
  }
}

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly engine: Engine,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => engineHealth(this.engine, 'jobs')])
  }
}

@Module({
  imports: [MillraceModule.forRoot({ file: process.env['JOBS_FILE'] ?? 'jobs.db', shutdownTimeout: '10s' }), TerminusModule],
  controllers: [MailsController, HealthController],
  providers: [Mailer, Mails],
})
export class AppModule {}
