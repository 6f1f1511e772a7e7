export { clampTimeout, MAX_TIMER_DELAY_MS } from './bounds.ts'
export { deadline, type Deadline } from './deadline.ts'
export { idleWatchdog, type IdleWatchdog } from './idle-watchdog.ts'
export { timeoutOf, TimeoutReason } from './reason.ts'
