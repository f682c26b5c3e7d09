import { message } from './toast.ts'

export function Toast() {
  const told = message.value
  return (
    <div class="toasts" role="status" aria-live="polite">
      {told !== undefined && <div class={told.isBad ? 'toast bad' : 'toast'}>{told.text}</div>}
    </div>
  )
}
