import { queue, sendMail } from '../../queue'

export async function POST(request: Request): Promise<Response> {
  const { to }: { to: string } = await request.json()
  const engine = await queue()
  const { id } = await engine.enqueue(sendMail, { to })
  return Response.json({ id }, { status: 202 })
}
