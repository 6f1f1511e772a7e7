import { HarnessError } from '@loopguard/kit'

export const badRalph = (why: string): HarnessError => new HarnessError(why, 'BAD_RALPH')

export const badReport = (why: string): HarnessError => new HarnessError(why, 'BAD_REPORT')

export const ralphFailed = (message: string, cause?: unknown): HarnessError => new HarnessError(message, 'RALPH_FAILED', { cause })
