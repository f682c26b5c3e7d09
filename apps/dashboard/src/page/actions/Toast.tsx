import { message } from './toast.ts'

export function Toast() {
  const shown = message.value
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown !== undefined && <div class={shown.isBad ? 'toast bad' : 'toast'}>{shown.text}</div>}
    </div>
  )
}
