import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as repeatToolReminderInvariant from '@loopguard/repeat-tool-reminder/invariant'
import { deadline } from '@loopguard/timeout'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import * as timeoutPolicyInvariant from '@loopguard/timeout-policy/invariant'
import type { Subject } from '../subject.ts'

export const loopguard: Subject = {
  title: 'our guards',
  timeoutPolicy,
  repeatToolReminder,
  companions: [
    { packageName: '@loopguard/timeout-policy', plugin: timeoutPolicyInvariant },
    { packageName: '@loopguard/repeat-tool-reminder', plugin: repeatToolReminderInvariant },
  ],
  deadline,
  differs: {},
}
