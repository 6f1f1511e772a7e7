import type { HostMessage } from './host.ts'

const REMINDER_PLUGIN = 'repeat-tool-reminder'
const TIME_OUT_CODE = 'TOOL_TIMEOUT'

/** Whether a message is a reminder of the guard, by its source. */
export function isReminder({ source }: HostMessage): boolean {
  return source.kind === 'plugin' && source.plugin === REMINDER_PLUGIN
}

/** Whether a tool result is a time-out of the guard, by its code. */
export function isTimeOut(error: { readonly code: string } | undefined): boolean {
  return error?.code === TIME_OUT_CODE
}
